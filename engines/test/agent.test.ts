import { describe, expect, it } from "vitest";
import { agent } from "../src/agent.ts";
import { recordedAnswer } from "./recorded-answer.ts";

const catalogue = {
  protocol: 1,
  worker: "gpu-box",
  version: "0.1.0",
  draining: false,
  models: [
    {
      id: "coder",
      aliases: ["code"],
      kind: "chat",
      state: "warm",
      slots: { total: 4, busy: 1 },
      queued: 3,
      oldest_wait_ms: 1200,
      load_ms: 18000,
      tokens_per_second: 41.5,
      context_length: 32768,
      memory_bytes: 21474836480,
      engine: "llama-server",
      apis: ["chat", "completions", "telepathy"],
      quantization: "Q4_K_M",
      digest: null,
    },
  ],
  queue: { depth: 3, swapping_to: null },
  memory: { budget_bytes: 0, used_bytes: 21474836480 },
};

describe("a worker agent's catalogue", () => {
  it("is read in full", () => {
    expect(agent.parse(catalogue, null)).toMatchObject({
      models: [
        {
          id: "coder",
          aliases: ["code"],
          state: "warm",
          kind: "chat",
          contextLength: 32_768,
          slots: 4,
          queued: 3,
          oldestWaitMs: 1_200,
          loadMs: 18_000,
          tokensPerSecond: 41.5,
          apis: ["chat", "completions"],
        },
      ],
      refusesUnknown: true,
      draining: false,
      slots: null,
    });
  });

  it("may lack everything but a protocol and names, and may know more than we do", () => {
    const report = agent.parse({ protocol: 9, models: [{ id: "m", mood: "good" }], weather: {} }, null);
    expect(report?.models).toMatchObject([{ id: "m", state: "unknown", slots: null, apis: null }]);
  });

  it("tells that it drains", () => {
    expect(agent.parse({ ...catalogue, draining: true }, null)?.draining).toBe(true);
  });

  it("loses a model with a bad name, not the others", () => {
    const models = [{ id: "bad\u0007" }, { id: "x".repeat(301) }, { id: 7 }, null, { id: "good" }];
    expect(agent.parse({ protocol: 1, models }, null)?.models.map((model) => model.id)).toEqual(["good"]);
  });

  it("is none without a protocol or models", () => {
    expect(agent.parse({ models: [] }, null)).toBeNull();
    expect(agent.parse({ protocol: 1 }, null)).toBeNull();
    expect(agent.parse({ protocol: 1, models: {} }, null)).toBeNull();
  });
});

describe("what a worker agent's answer means", () => {
  it.each([
    [404, "model_not_found", "unknown_model"],
    [404, "not_found", "unknown_model"],
    [401, "invalid_api_key", "unknown_model"],
    [503, "queue_full", "busy"],
    [503, "draining", "busy"],
    [429, "rate_limited", "busy"],
    [503, "load_failed", "load_failed"],
    [503, "deadline", "client_fault"],
    [504, "timeout_first_byte", "client_fault"],
    [508, "loop_detected", "worker_fault"],
    [400, "invalid_request", "client_fault"],
    [413, "body_too_large", "client_fault"],
    [502, "worker_failed", "worker_fault"],
    [504, "timeout_idle", "worker_fault"],
    [500, "internal", "worker_fault"],
  ])("%i %s: %s", (status, code, meaning) => {
    expect(agent.meaning({ status, body: JSON.stringify({ error: { message: "x", code } }) })).toBe(meaning);
  });

  it("is its engine's where the agent passes that on", () => {
    expect(agent.meaning(recordedAnswer("single-err-badjson"))).toBe("client_fault");
    expect(agent.meaning(recordedAnswer("router-chat-broken-model"))).toBe("load_failed");
    expect(agent.meaning(recordedAnswer("loading-models"))).toBe("loading");
  });
});
