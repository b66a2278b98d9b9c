import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { damaged } from "../../../test/harness/damaged.ts";
import { loadedNames } from "../../src/swap/loaded-names.ts";
import { splitWords } from "../../src/swap/split-words.ts";

describe("the output of COMMAND status", () => {
  it("names what is loaded, with blanks wherever one writes them and colons in names", () => {
    const output =
      "  Coder : LOADED \r\nqwen:7b:loaded\nother: loading\n: loaded\nloaded\nup: loaded now\n\tb\t:\tloaded";
    expect([...loadedNames(output)]).toEqual(["coder", "qwen:7b", "b"]);
  });

  it("means what its pattern says, whatever is in it", () => {
    const lines = fc.array(fc.constantFrom("m: loaded", " a:b : Loaded ", "m: cold", ": loaded", "x"), {
      maxLength: 5,
    });
    fc.assert(
      fc.property(
        damaged(
          lines.map((all) => all.join("\n")),
          [":", " ", "loaded", "\t", "::"],
        ),
        (bytes) => {
          const output = bytes.toString("utf8");
          const wanted = output.split("\n").flatMap((line) => /^\s*(.+?)\s*:\s*loaded\s*$/is.exec(line)?.[1] ?? []);
          fc.pre(output.length < 500);
          expect([...loadedNames(output)]).toEqual(
            [...new Set(wanted.map((name) => name.trim().toLowerCase()))].filter((name) => name !== ""),
          );
        },
      ),
      { numRuns: 500 },
    );
  });

  it.each([" ".repeat(200_000), ":".repeat(200_000), " :".repeat(100_000), `${" ".repeat(100_000)}: loaded x`])(
    "is read in the time that its length takes",
    (line) => {
      const started = performance.now();
      loadedNames(line);
      splitWords(line);
      expect(performance.now() - started).toBeLessThan(2_000);
    },
  );
});
