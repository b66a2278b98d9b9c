import { AnswerTail } from "@farmgate/wire";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AnswerTiming, readAnswerFigures } from "../../src/serve/answer-figures.ts";
import { recorded } from "../support/fixture.ts";

const UNSEEN: AnswerTiming = { firstPieceMs: null, streamedMs: 0 };
const STREAMED: AnswerTiming = { firstPieceMs: 500, streamedMs: 2_000 };
const WHOLE: AnswerTiming = { firstPieceMs: 500, streamedMs: 0 };

const read = (value: unknown, timing: AnswerTiming) => {
  const { promptTokensPerSecond, tokensPerSecond } = readAnswerFigures(JSON.stringify(value), timing);
  return [promptTokensPerSecond, tokensPerSecond];
};

describe("the end of an answer", () => {
  it("tells the speed of a recorded stream, wherever its pieces are cut", async () => {
    const { body } = await recorded("tool-call-required-stream.response");
    for (const size of [1, 13, 1_000, body.length]) {
      const tail = new AnswerTail();
      for (let at = 0; at < body.length; at += size) tail.add(body.subarray(at, at + size));
      const figures = readAnswerFigures(tail.text(), UNSEEN);
      expect(figures.tokensPerSecond).toBeCloseTo(45.4746, 3);
      // One token of the prompt was read, the other 202 were cached: no rate by that.
      expect(figures.promptTokensPerSecond).toBe(null);
      expect(tail.atBoundary("event")).toBe(true);
    }
  });

  const usage = { prompt_tokens: 500, completion_tokens: 50 };
  const timings = { prompt_n: 400, prompt_per_second: 812.5, predicted_n: 50, predicted_per_second: 41.5 };
  const ollama = { prompt_eval_count: 100, prompt_eval_duration: 5e8, eval_count: 80, eval_duration: 2e9 };
  it.each<[string, unknown, AnswerTiming, (number | null)[]]>([
    ["llama-server's timings, whatever was seen", { usage, timings }, STREAMED, [812.5, 41.5]],
    ["them alone by an older one", { timings: { predicted_per_second: 41.5 } }, STREAMED, [null, 41.5]],
    ["no speed by one token", { timings: { ...timings, predicted_n: 1, prompt_n: 31 } }, STREAMED, [null, null]],
    ["Ollama's durations", { message: {}, done: true, load_duration: 9e9, ...ollama }, UNSEEN, [200, 40]],
    ["Ollama's answer with its whole prompt cached", { eval_count: 80, eval_duration: 2e9 }, UNSEEN, [null, 40]],
    [
      "LM Studio's stats",
      { usage, stats: { tokens_per_second: 51.4, time_to_first_token: 0.25, generation_time: 0.9 } },
      WHOLE,
      [2_000, 51.4],
    ],
    ["usage over what was seen of a stream", { usage }, STREAMED, [1_000, 25]],
    [
      "the tokens that were not cached",
      { usage: { ...usage, prompt_tokens_details: { cached_tokens: 400 } } },
      STREAMED,
      [200, 25],
    ],
    ["nothing by an answer in one piece", { usage }, WHOLE, [null, null]],
    ["the prompt of embeddings", { usage: { prompt_tokens: 500, total_tokens: 500 } }, WHOLE, [1_000, null]],
    ["the usage of a response", { usage: { input_tokens: 500, output_tokens: 50 } }, STREAMED, [1_000, 25]],
    ["nothing by nothing", { usage: null, choices: [] }, STREAMED, [null, null]],
    ["nothing without a number", { timings: { predicted_per_second: null } }, STREAMED, [null, null]],
  ])("gives %s", (_what, value, timing, figures) => {
    expect(read(value, timing)).toEqual(figures);
  });

  it("takes no figure from what the model wrote, be it text or a tool's arguments", () => {
    const forged = {
      timings: { predicted_per_second: 9e9, prompt_n: 99, prompt_per_second: 9e9 },
      usage: { prompt_tokens: 9e9, completion_tokens: 9e9 },
      prompt_eval_count: 9e9,
      eval_count: 9e9,
      eval_duration: 1e6,
    };
    const text = JSON.stringify(forged);
    expect(read({ choices: [{ message: { content: text } }] }, STREAMED)).toEqual([null, null]);
    const tools = [{ function: { arguments: forged } }];
    expect(read({ content: tools, usage: { input_tokens: 50, output_tokens: 10 } }, STREAMED)).toEqual([100, 5]);
    expect(read({ message: { tool_calls: tools }, done: true, ...ollama }, UNSEEN)).toEqual([200, 40]);
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, after) => {
        const content = `${before}${text}${after}`;
        expect(read({ content, usage: { prompt_tokens: 50, completion_tokens: 10 } }, STREAMED)).toEqual([100, 5]);
        expect(read({ content }, STREAMED)).toEqual([null, null]);
      }),
    );
  });

  it("is read whatever stands there", () => {
    const names = fc.constantFrom('"timings":{', '"usage":{', '"prompt_n":', '"eval_count":', "1e999", "0", "-1", "}");
    fc.assert(
      fc.property(fc.array(fc.oneof(names, fc.string())), (pieces) => {
        for (const value of Object.values(readAnswerFigures(pieces.join(""), STREAMED))) {
          expect(value === null || (Number.isFinite(value) && value > 0)).toBe(true);
        }
      }),
    );
  });
});
