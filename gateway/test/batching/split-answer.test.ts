import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinInputs } from "../../src/batching/join-inputs.ts";
import { readInputs, type ReadInputs } from "../../src/batching/read-inputs.ts";
import { shareOut } from "../../src/batching/share-out.ts";
import { splitAnswer } from "../../src/batching/split-answer.ts";

/** Numbers as engines print them; read and printed again, most of them come out otherwise. */
const number = fc.oneof(
  fc.constantFrom(
    "1e-7",
    "-0.0",
    "0.1",
    "1E5",
    "0.10000000149011612",
    "1.0",
    "-1.5e-08",
    "3",
    "100000000000000000000000.0",
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
);
const vectorFor = (input: string) => {
  const seed = Buffer.from(input).reduce((sum, byte) => (sum * 31 + byte) % 1_000, 7);
  return { base64: Buffer.from(input).toString("base64"), seed };
};

interface Engine {
  numbers: readonly string[];
  base64: boolean;
  pretty: boolean;
  indexed: boolean;
  usage: "none" | "null" | "counts";
}

/** What an engine answers to these inputs, byte for byte a function of each input alone but for the counts. */
function answerTo(
  inputs: readonly string[],
  { numbers, base64, pretty, indexed, usage }: Engine,
  shuffled = false,
): string {
  const gap = pretty ? "\n  " : "";
  const data = inputs.map((input, i) => {
    const { base64: text, seed } = vectorFor(input);
    const embedding = base64
      ? JSON.stringify(text)
      : `[${numbers.map((_, j) => numbers[(seed + j) % numbers.length]).join(`, `)}]`;
    return `{"object":"embedding",${gap}"embedding":${embedding}${indexed ? `,${gap}"index":${gap}${i}` : ""}}`;
  });
  if (shuffled && indexed) data.reverse();
  const tokens = inputs.reduce((sum, input) => sum + input.length, 0);
  const told = {
    none: "",
    null: ',"usage":null',
    counts: `,"usage":{"prompt_tokens":${tokens},"total_tokens": ${tokens},"details":{"cached":0}}`,
  };
  return `{"object":"list",${gap}"model":"m \\u00e9"${told[usage]},"data":[${data.join(",")}]}\n`;
}

const engine: fc.Arbitrary<Engine> = fc.record({
  numbers: fc.array(number, { minLength: 1, maxLength: 5 }),
  base64: fc.boolean(),
  pretty: fc.boolean(),
  indexed: fc.boolean(),
  usage: fc.constantFrom("none" as const, "null" as const, "counts" as const),
});
const input = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" });
const call = fc.oneof(input, fc.array(input, { minLength: 1, maxLength: 4 }));

function bodyOf(value: string | string[]) {
  const body = Buffer.from(JSON.stringify({ model: "m", input: value, dimensions: 8 }));
  return { body, read: readInputs(body) as ReadInputs };
}

const texts = (value: unknown) => (typeof value === "string" ? [value] : (value as string[]));
const portionsOf = (calls: readonly { read: ReadInputs }[]) =>
  calls.map(({ read: { inputs, weights } }) => ({ inputs: inputs.length, weight: weights.reduce((a, b) => a + b, 0) }));

describe("a joint embedding request", () => {
  it("gives each caller the very bytes that it would get alone", () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 2, maxLength: 6 }), engine, fc.boolean(), (values, answers, shuffled) => {
        const calls = values.map(bodyOf);
        const joint = joinInputs(calls as [(typeof calls)[0], ...typeof calls]);
        const asked = JSON.parse(joint.toString()) as { input: string[]; model: string; dimensions: number };
        expect(asked).toEqual({ model: "m", dimensions: 8, input: values.flatMap(texts) });
        const answer = answerTo(asked.input, answers, shuffled);
        const parts = splitAnswer(Buffer.from(answer), portionsOf(calls))?.map(String);
        // Here a character is a token, so that the shares are exact.
        expect(parts).toEqual(values.map((value) => answerTo(texts(value), answers)));
      }),
    );
  });

  it("takes nothing for an answer that has not a vector for each input", () => {
    fc.assert(
      fc.property(
        fc.array(input, { minLength: 2, maxLength: 5 }),
        engine,
        fc.integer({ min: -1, max: 1 }),
        (values, answers, more) => {
          const other = more < 0 ? values.slice(1) : more > 0 ? [...values, "x"] : values;
          const portions = portionsOf(values.map(bodyOf));
          const parts = splitAnswer(Buffer.from(answerTo(other, answers)), portions);
          expect(parts === null).toBe(more !== 0);
        },
      ),
    );
    const two = [
      { inputs: 1, weight: 1 },
      { inputs: 1, weight: 1 },
    ];
    for (const text of [
      "",
      "{}",
      '{"data":[]}',
      '{"data":{"embedding":[1]}}',
      '{"data":[[1],[2]]}',
      '{"data":[{"embedding":[1],"index":0},{"embedding":[1],"index":0}]}',
      '{"data":[{"embedding":[1],"index":0},{"embedding":[1]}]}',
      '{"data":[{"embedding":[1],"index":1},{"embedding":[1],"index":2}]}',
      '{"data":[{"index":0},{"index":1}]}',
      '{"data":[{"embedding":[1]},{"embedding":[1]}]',
      '{"data":[{"embedding":[1]},{"embedding":[1]}]} {}',
      '{"data":[{"embedding":[1]},{"embedding":"a}]}',
      '{"data":[{"embedding":[1]},{"embedding":[1]}],"data":[]}',
    ]) {
      expect([text, splitAnswer(Buffer.from(text), two)]).toEqual([text, null]);
    }
  });

  it("is never hurt by depth", () => {
    const deep = '{"a":'.repeat(100_000) + "1" + "}".repeat(100_000);
    const answer = `{"usage":${deep},"data":[{"embedding":${"[".repeat(100_000)}${"]".repeat(100_000)}}]}`;
    expect(String(splitAnswer(Buffer.from(answer), [{ inputs: 1, weight: 1 }])?.[0])).toBe(answer);
  });

  it("is never hurt by bytes that are no JSON", () => {
    const portions = [{ inputs: 1, weight: 1 }];
    const pieces = fc.constantFrom(
      "{",
      "}",
      "[",
      "]",
      '"',
      ",",
      ":",
      "\\",
      "data",
      "embedding",
      "index",
      "1",
      " ",
      '"data":[{"embedding":',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 30 }), (words) => {
        const bytes = Buffer.from(words.join(""));
        expect(() => [splitAnswer(bytes, portions), readInputs(bytes)]).not.toThrow();
      }),
    );
  });
});

describe("tokens that are shared out", () => {
  it("add up to the whole, each part its exact share rounded up or down", () => {
    const weights = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 70 });
    fc.assert(
      fc.property(fc.nat({ max: 2 ** 40 }), weights, (total, shares) => {
        const parts = shareOut(total, shares);
        const sum = shares.reduce((all, share) => all + share, 0);
        expect(parts.reduce((all, part) => all + part, 0)).toBe(total);
        for (const [i, part] of parts.entries()) {
          expect(Math.abs(part - (total * (shares[i] ?? 0)) / sum)).toBeLessThan(1 + 1e-3);
        }
      }),
    );
  });

  it("give nobody a total below his prompt", () => {
    const answer = (prompt: number, total: number) =>
      `{"usage":{"prompt_tokens":${prompt},"total_tokens":${total}},"data":[${'{"embedding":[1]},'.repeat(3).slice(0, -1)}]}`;
    fc.assert(
      fc.property(
        fc.nat(50),
        fc.nat(50),
        fc.tuple(fc.integer({ min: 1 }), fc.integer({ min: 1 }), fc.integer({ min: 1 })),
        (prompt, more, weights) => {
          const portions = weights.map((weight) => ({ inputs: 1, weight }));
          const parts = splitAnswer(Buffer.from(answer(prompt, prompt + more)), portions) ?? [];
          const usages = parts.map(
            (part) => (JSON.parse(String(part)) as { usage: { prompt_tokens: number; total_tokens: number } }).usage,
          );
          expect(usages.reduce((sum, usage) => sum + usage.prompt_tokens, 0)).toBe(prompt);
          expect(usages.reduce((sum, usage) => sum + usage.total_tokens, 0)).toBe(prompt + more);
          for (const usage of usages) expect(usage.total_tokens).toBeGreaterThanOrEqual(usage.prompt_tokens);
        },
      ),
    );
  });
});
