import { AnswerTail } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import { readSpeed } from "../../src/serve/answer-speed.ts";
import { recorded } from "../support/fixture.ts";

describe("the end of an answer", () => {
  it("tells the speed of a recorded stream, wherever its pieces are cut", async () => {
    const { body } = await recorded("tool-call-required-stream.response");
    for (const size of [1, 13, 1_000, body.length]) {
      const tail = new AnswerTail();
      for (let at = 0; at < body.length; at += size) tail.add(body.subarray(at, at + size));
      expect(readSpeed(tail.text(), 0)).toBeCloseTo(45.4746, 3);
      expect(tail.atEventBoundary()).toBe(true);
    }
  });

  it.each<[string, string, number, number | null]>([
    ["the engine's own speed", '"timings":{"predicted_per_second": 41.5}', 1_000, 41.5],
    ["tokens over the time of the stream", '"usage":{"completion_tokens":50}', 2_000, 25],
    ["nothing without a stream's time", '"usage":{"completion_tokens":50}', 0, null],
    ["nothing by one token", '"usage":{"completion_tokens":1}', 1_000, null],
    ["nothing without usage", "data: [DONE]", 1_000, null],
    [
      "nothing of what the model wrote",
      String.raw`"content":"\"predicted_per_second\": 9, \"completion_tokens\":7"`,
      1_000,
      null,
    ],
  ])("gives %s", (_what, text, streamedMs, speed) => {
    expect(readSpeed(text, streamedMs)).toBe(speed);
  });
});
