import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { damaged } from "../../../test/harness/damaged.ts";
import { duration, httpUrl, listen, name, parseConfig, size, wholeNumber } from "../../src/index.ts";

const schema = z.strictObject({
  listen: listen(1),
  workers: z
    .array(z.strictObject({ name, url: httpUrl, tags: z.record(z.string(), z.string()).optional() }))
    .default([]),
  wait: duration.default(0),
  limit: size.default(0),
  count: wholeNumber(0).default(0),
});

const FILES = [
  "listen: { host: h, port: 5 }\nworkers:\n  - name: a\n    url: http://h\n    tags: { x: y }\nwait: 5s\nlimit: 1kb\n",
  "%YAML 1.1\n---\nworkers: &a\n  - { <<: { name: b }, url: 'http://${HOST}' }\ncount: !!int 7\n",
];
const HINTS =
  "- |: |{|}|[|]|&a |*a|!!set |!!binary |!!omap |<<: |? |: |# |--- \n|...\n|%YAML 1.1\n|'|\"|>-\n|  |\t|${A}|__proto__: ".split(
    "|",
  );

describe("a damaged configuration", () => {
  it("is read or refused with what is wrong, and every problem in it has its line", () => {
    const document = damaged(fc.constantFrom(...FILES), [...HINTS, "|"]);
    fc.assert(
      fc.property(document, (bytes) => {
        const parsed = parseConfig(schema, bytes.toString("utf8"), { A: "a" });
        if (parsed.ok) return;
        expect(parsed.problems.length).toBeGreaterThan(0);
        for (const { message, line } of parsed.problems) {
          expect(message).not.toBe("");
          expect(line === null || line >= 1).toBe(true);
        }
      }),
      { numRuns: 150 },
    );
  });

  it.each([
    ["keys that are keys that are keys", (n: number) => "? ".repeat(n)],
    ["lists in lists", (n: number) => `workers: ${"[".repeat(n)}${"]".repeat(n)}`],
    ["keys below keys", (n: number) => Array.from({ length: n / 10 }, (_, i) => `${" ".repeat(i)}a:`).join("\n")],
    ["quotes", (n: number) => "'".repeat(n)],
    ["anchors", (n: number) => "&a ".repeat(n)],
    ["tags", (n: number) => "!a ".repeat(n)],
    ["slashes in an address", (n: number) => `workers: [{ name: a, url: 'http://h${"/".repeat(n * 10)}x' }]`],
  ])("of %s is told in the time that its length takes", (_, made) => {
    const started = performance.now();
    parseConfig(schema, made(3_000), {});
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it("with a list or a mapping for a key is refused with its line", () => {
    const told = (text: string) => {
      const parsed = parseConfig(schema, text, {});
      return parsed.ok ? [] : parsed.problems.map(({ line, message }) => `${line}: ${message}`);
    };
    expect(told("wait: 5s\n[a]: 1\n")).toEqual(["2: not valid YAML: Map keys must be plain values"]);
    expect(told("? ? a\n")).toEqual(["1: not valid YAML: Map keys must be plain values"]);
  });
});
