import { describe, expect, it } from "vitest";
import { readErrorText } from "../../src/adapters/error-text.ts";

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
