import { describe, expect, it } from "vitest";
import { llamaSwap } from "../src/llama-swap.ts";

const entry = (id: string, type = "model", more = {}) => ({
  id,
  owned_by: "llama-swap",
  context_length: 32_768,
  status: { value: "loaded" },
  meta: { llamaswap: { type, ...more } },
});
const states = (data: object[], extra: unknown) =>
  llamaSwap.parse({ object: "list", data }, extra)?.models.map((model) => [model.id, model.state]);

describe("llama-swap's catalogue", () => {
  it("goes by what runs, not by its list's own word", () => {
    const running = ["ready", "starting", "stopping", "shutdown"].map((state) => ({ model: state, state }));
    const listed = ["ready", "starting", "stopping", "shutdown", "other"].map((id) => entry(id));
    expect(states(listed, { running })).toEqual([
      ["ready", "warm"],
      ["starting", "loading"],
      ["stopping", "cold"],
      ["shutdown", "cold"],
      ["other", "cold"],
    ]);
  });

  it("cannot say what is loaded without /running, only what is not", () => {
    const listed = [entry("a"), { ...entry("b"), status: { value: "unloaded" } }];
    expect(states(listed, null)).toEqual([
      ["a", "unknown"],
      ["b", "cold"],
    ]);
  });

  it("does not list a model's alias as a second model", () => {
    const listed = [entry("coder", "model", { aliases: ["code"] }), entry("code", "alias")];
    expect(llamaSwap.parse({ data: listed }, null)?.models).toMatchObject([
      { id: "coder", aliases: ["code"], contextLength: 32_768 },
    ]);
  });

  it("cannot say where a peer or selector stands", () => {
    expect(states([entry("p", "peer"), entry("s", "selector")], { running: [] })).toEqual([
      ["p", "unknown"],
      ["s", "unknown"],
    ]);
  });
});

describe("what llama-swap's answer means", () => {
  it.each([
    [404, '{"src":"llama-swap","error":{"message":"no such model","type":"invalid_request_error"}}', "unknown_model"],
    [429, '{"src":"llama-swap","error":{"message":"limit","code":"concurrency_limit"}}', "busy"],
    [502, '{"src":"llama-swap","error":{"message":"upstream"}}', "worker_fault"],
    [500, '{"error":{"code":500,"message":"[json.exception.parse_error.101] parse error"}}', "client_fault"],
  ])("%i %s: %s", (status, body, meaning) => {
    expect(llamaSwap.meaning({ status, body })).toBe(meaning);
  });
});
