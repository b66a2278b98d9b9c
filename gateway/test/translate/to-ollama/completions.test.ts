import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { completionsToGenerate } from "../../../src/translate/to-ollama/completions-to-generate.ts";
import { AT, CONTEXT, clientOf, dataOf, someCuts, someText, tell } from "../../support/translate.ts";

const DONE = {
  model: "m:latest",
  response: "",
  done: true,
  done_reason: "length",
  prompt_eval_count: 2,
  eval_count: 3,
};

function put(body: Record<string, unknown>) {
  return completionsToGenerate({ model: "m", prompt: "Once", ...body }, CONTEXT);
}

function linesOf(pieces: readonly string[]): string {
  const lines = pieces.map((response) => ({ model: "m:latest", response, done: false }));
  return [...lines, DONE].map((line) => `${JSON.stringify(line)}\n`).join("");
}

describe("a completion put to Ollama", () => {
  it("sends the prompt as it is, past the model's template", () => {
    expect(put({ max_tokens: 5, stop: ["a"] }).body).toEqual({
      model: "worker-model",
      prompt: "Once",
      raw: true,
      stream: false,
      options: { num_predict: 5, stop: ["a"] },
    });
    expect(put({ prompt: ["Once"] }).body["prompt"]).toBe("Once");
  });

  it("leaves the template in place to fill a gap", () => {
    expect(put({ suffix: "end" }).body).toEqual({
      model: "worker-model",
      prompt: "Once",
      suffix: "end",
      stream: false,
    });
  });

  it.each([
    ["several prompts", { prompt: ["a", "b"] }, "not_supported"],
    ["tokens", { prompt: [1, 2] }, "not_supported"],
    ["its prompt back", { echo: true }, "not_supported"],
    ["the best of many", { best_of: 3 }, "not_supported"],
    ["token probabilities", { logprobs: 5 }, "not_supported"],
    ["no prompt", { prompt: undefined }, "invalid_request"],
  ])("refuses %s", (_, body, code) => {
    expect(() => put(body)).toThrow(expect.objectContaining({ code }));
  });

  it("tells a whole answer", () => {
    expect(put({}).whole({ ...DONE, response: "upon" }, AT)).toEqual({
      id: "cmpl-req_1",
      object: "text_completion",
      created: 1_800_000_000,
      model: "m:latest",
      choices: [{ text: "upon", index: 0, logprobs: null, finish_reason: "length" }],
      usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
    });
  });

  it("tells a stream, however it is cut, with usage only when asked", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(someText), fc.boolean(), someCuts, async (pieces, usage, cuts) => {
        const translated = put({ stream: true, stream_options: { include_usage: usage } });
        const { text, problem } = tell("completions", translated, linesOf(pieces), cuts);
        expect(problem).toBeNull();
        let seen = "";
        let finish: string | null = null;
        let told = 0;
        for await (const chunk of await clientOf(text).completions.create({ model: "m", prompt: "", stream: true })) {
          seen += chunk.choices[0]?.text ?? "";
          finish ??= chunk.choices[0]?.finish_reason ?? null;
          if (chunk.usage != null) told += 1;
        }
        expect({ seen, finish, told }).toEqual({ seen: pieces.join(""), finish: "length", told: usage ? 1 : 0 });
        expect(dataOf(text).at(-1)).toEqual({ done: true });
      }),
      { numRuns: 40 },
    );
  });

  it("invents nothing when the worker's stream is cut off anywhere", () => {
    fc.assert(
      fc.property(fc.array(someText), fc.nat(), (pieces, cut) => {
        const bytes = Buffer.from(linesOf(pieces));
        const stream = bytes.subarray(0, cut % bytes.indexOf('"done":true')).toString();
        const { text, problem } = tell("completions", put({ stream: true }), stream);
        expect(problem).not.toBeNull();
        expect(text).not.toMatch(/\[DONE\]|"finish_reason":"/);
      }),
    );
  });
});
