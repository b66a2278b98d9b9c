import { describe, expect, it } from "vitest";
import { readErrorReason, readErrorText } from "../src/error-text.ts";

describe("reading a worker's error", () => {
  it.each([
    ["an object", '{"error":{"message":"m","type":"t","code":"c"}}', { message: "m", type: "t", code: "c" }],
    ["a numeric code", '{"error":{"message":"m","code":400}}', { message: "m", type: null, code: "400" }],
    ["text", '{"error":"m"}', { message: "m", type: null, code: null }],
    ["text with a type", '{"error":"m","error_type":"t"}', { message: "m", type: "t", code: null }],
    ["no envelope", '{"object":"error","message":"m","type":"t","code":422}', { message: "m", type: "t", code: "422" }],
    ["a detail", '{"detail":{"msg":"m","type":"t"}}', { message: "m", type: "t", code: null }],
    ["a detail as text", '{"detail":"m"}', { message: "m", type: null, code: null }],
    ["no JSON", " proxy error: m\n", { message: "proxy error: m", type: null, code: null }],
    ["JSON cut short", '{"error":{"message":"m', { message: '{"error":{"message":"m', type: null, code: null }],
    ["nothing", "", { message: "", type: null, code: null }],
    ["another kind of JSON", "[1]", { message: "[1]", type: null, code: null }],
    ["fields of wrong types", '{"error":{"message":7,"type":{},"code":[]}}', { message: "", type: null, code: null }],
  ])("%s", (_, body, expected) => {
    expect(readErrorText(body)).toEqual(expected);
  });

  it("keeps 2,000 characters of a long one", () => {
    expect(readErrorText(JSON.stringify({ error: "x".repeat(5_000) })).message).toHaveLength(2_000);
  });
});

describe("the reason that a caller is told", () => {
  it("is the message, whichever shape the answer has", () => {
    for (const body of [
      '{"error":{"message":"no memory"}}',
      '{"error":"no memory"}',
      '{"message":"no memory"}',
      '{"detail":{"msg":"no memory"}}',
      "no memory",
    ]) {
      expect(readErrorReason(body)).toBe("no memory");
    }
  });

  it("is one line without control characters, hidden directions and broken characters", () => {
    const message = "\u001b[31mno\r\n\tmemory\u0000 left\u202e\u2028here\ud800!";
    expect(readErrorReason(JSON.stringify({ error: message }))).toBe("[31mno memory left here !");
  });

  it("keeps the start and the end of a long one: a script's last lines say why", () => {
    const log = `loading m failed: ${"layer\n".repeat(1_000)}CUDA out of memory`;
    const reason = readErrorReason(JSON.stringify({ error: { message: log } }));
    expect(reason.length).toBeLessThanOrEqual(500);
    expect(reason).toMatch(/^loading m failed: layer .* \.\.\. .* layer CUDA out of memory$/);
  });

  it("is empty for a page of HTML, and for an answer that says nothing", () => {
    expect(readErrorReason("<html><title>502 Bad Gateway</title></html>")).toBe("");
    expect(readErrorReason("{}")).toBe("");
    expect(readErrorReason("")).toBe("");
  });

  it("is cut between characters", () => {
    const reason = readErrorReason(`x${"\u{1f600}".repeat(1_000)}`);
    expect(reason).not.toMatch(/\p{Cs}/u);
  });
});
