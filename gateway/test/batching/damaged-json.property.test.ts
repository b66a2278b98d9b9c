import { parseJson } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { damaged } from "../../../test/harness/damaged.ts";
import { joinInputs } from "../../src/batching/join-inputs.ts";
import { JsonSpans } from "../../src/batching/json-spans.ts";
import { readInputs } from "../../src/batching/read-inputs.ts";
import { splitAnswer } from "../../src/batching/split-answer.ts";

const HINTS = [
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  '\\"',
  "\\u0",
  "1e9",
  "-",
  ".5",
  '"index":0,',
  '"usage":',
  '"data":',
  '"input":',
  "[1]",
];
const answer = fc.constantFrom(
  '{"object":"list","data":[{"index":0,"embedding":[0.5,1e-3]},{"index":1,"embedding":[1,2]},{"index":2,"embedding":"AAA="}],"model":"m","usage":{"prompt_tokens":7,"total_tokens":9,"details":{"cached":3}}}',
  '{"data":[{"embedding":[1]},{"embedding":[2]},{"embedding":[3]}],"usage":{"prompt_tokens":12345678901234567890}}',
);
const request = fc.constantFrom(
  '{"model":"m","input":["a","b\\n","\\u00e9"],"dimensions":64}',
  '{"input":[[1,2],[3]],"model":"m","user":"x"}',
  '{"model":"m","input":"é"}',
  '{"model":"m","input":[1,2,3]}',
);

function isJson(bytes: Buffer): boolean {
  return parseJson(bytes.toString()) !== undefined;
}

describe("damaged embeddings", () => {
  it("are split into answers that are JSON where the whole was, or not at all", () => {
    const portions = [
      { inputs: 2, weight: 3 },
      { inputs: 1, weight: 1 },
    ];
    fc.assert(
      fc.property(damaged(answer, HINTS), (bytes) => {
        const before = Buffer.from(bytes);
        const parts = splitAnswer(bytes, portions);
        expect(bytes.equals(before)).toBe(true);
        if (parts === null || !isJson(bytes)) return;
        const lengths = parts.map((part) => (JSON.parse(part.toString()) as { data: unknown[] }).data.length);
        expect(lengths).toEqual([2, 1]);
      }),
      { numRuns: 600 },
    );
  });

  it("requests are taken apart as JSON.parse has them, and join to one that is JSON", () => {
    fc.assert(
      fc.property(damaged(request, HINTS), (bytes) => {
        const read = readInputs(bytes);
        if (read === null || !isJson(bytes)) return;
        const { input } = JSON.parse(bytes.toString()) as { input: string | unknown[] };
        const inputs = typeof input === "string" || typeof input[0] === "number" ? [input] : input;
        expect(read.inputs.map(({ start, end }) => JSON.parse(bytes.toString("utf8", start, end)))).toEqual(inputs);
        expect(inputs.every((one) => (typeof one === "string") === (read.kind === "texts"))).toBe(true);
        const joined = JSON.parse(
          joinInputs([
            { body: bytes, read },
            { body: bytes, read },
          ]).toString(),
        ) as object;
        expect(joined).toEqual({ ...(JSON.parse(bytes.toString()) as object), input: [...inputs, ...inputs] });
      }),
      { numRuns: 600 },
    );
  });
});

describe("values of any JSON", () => {
  it("end where they end", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 3 }), fc.constantFrom("", ",", "]", "}", " "), (text, behind) => {
        const spans = new JsonSpans(Buffer.from(text + behind));
        expect(spans.valueEnd(0)).toBe(Buffer.byteLength(text.trimEnd()));
      }),
    );
  });

  it.each([
    ["backslashes", `{"a":"${"\\".repeat(400_000)}"}`],
    ["escaped quotes", `{"a":"${'\\"'.repeat(200_000)}"}`],
    ["open brackets", `{"a":${"[".repeat(400_000)}`],
    ["quotes", `{"a":${'"'.repeat(400_001)}`],
    ["members", `{${'"a":1,'.repeat(20_000)}"a":1}`],
    ["counts in the usage", `{"data":[{"embedding":[]}],"usage":{${'"a":1,'.repeat(20_000)}"a":1}}`],
  ])("are gone over once: %s", (_, text) => {
    const bytes = Buffer.from(text);
    const started = performance.now();
    splitAnswer(bytes, [{ inputs: 1, weight: 1 }]);
    readInputs(bytes);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
