import { expect, it } from "vitest";
import { explain } from "../../src/routing/explain.ts";
import { ask, busy, farm, model, worker } from "./farm.ts";

it("ranks every worker with its reason, and says why the others are out", () => {
  const context = farm([
    worker("cold", { models: [model("m", "cold")] }),
    worker("full", { models: [model("M:latest", "unknown")], maxConcurrent: 1 }),
    worker("warm", { models: [model("m", "warm")], slots: 4 }),
    worker("away", { models: [model("m", "warm")], health: "unhealthy", problem: "no answer" }),
    worker("mlx", { refusesUnknown: false }),
  ]);
  busy(context, "full", 1, "another");
  expect(explain(ask("m"), context)).toEqual({
    model: "m",
    key: "m",
    decision: { kind: "send", worker: "warm" },
    weighed: null,
    ranked: [
      {
        worker: "warm",
        set: "leading",
        warmth: "warm",
        reason: "has it loaded; the only such worker with room",
        inflight: 0,
        upstreamModel: "m",
        api: "chat",
      },
      {
        worker: "full",
        set: "leading",
        warmth: "possibly-warm",
        reason: "lists it and cannot say whether it is loaded; at its cap of 1: a request would wait",
        inflight: 1,
        upstreamModel: "M:latest",
        api: "chat",
      },
      {
        worker: "cold",
        set: "cold",
        warmth: "cold",
        reason: "has it, not loaded; the only such worker with room",
        inflight: 0,
        upstreamModel: "m",
        api: "chat",
      },
    ],
    out: [
      { worker: "away", reason: "is unhealthy (no answer)" },
      { worker: "mlx", reason: "does not list it and could answer with another model" },
    ],
  });
});

it("tells that a request would wait, or what it would be refused with", () => {
  const context = farm([worker("a", { models: [model("m", "warm")], maxConcurrent: 1 })]);
  busy(context, "a", 1);
  expect(explain(ask("m"), context).decision).toEqual({ kind: "wait", set: "leading" });
  expect(explain(ask("typo"), context)).toMatchObject({
    decision: { kind: "none", code: "model_not_found" },
    ranked: [],
    out: [{ worker: "a", reason: "does not list it, and no worker ever did" }],
  });
});

it("tells of each further worker of a set which one it comes after, and why it comes late", () => {
  const models = [model("m", "warm")];
  const context = farm([
    worker("a", { models, slots: 2 }),
    worker("b", { models, slots: 2 }),
    worker("off", { models, refused: true }),
    worker("cold", { models: [model("m", "cold")] }),
  ]);
  busy(context, "b", 1);
  expect(explain(ask("m"), context).ranked.map(({ worker, reason }) => [worker, reason])).toEqual([
    ["a", "has it loaded; least loaded of 3 (0 in flight, capacity 2)"],
    ["b", "has it loaded; next after a"],
    ["off", "has it loaded; next after b, as it refused the last connection"],
    ["cold", "has it, not loaded; the only such worker with room"],
  ]);
});

it("does not promise that a failed load is tried again: an agent decides that itself", () => {
  const models = [model("m", "failed")];
  const context = farm([worker("a", { engine: "agent", models }), worker("b", { engine: "llama-server", models })]);
  expect(explain(ask("m"), context).ranked.map(({ reason }) => reason.split(";")[0])).toEqual([
    "failed to load it last time, and may refuse it until its next try is due",
    "failed to load it last time, and is due for another try",
  ]);
});

it("tells what a worker speaks that does not serve the API that is asked for", () => {
  const models = [model("m", "warm")];
  const context = farm([
    worker("tts", { models: [model("m", "warm", { apis: ["speech"] })] }),
    worker("ollama", { engine: "ollama", models }),
    worker("unknown", { models }),
  ]);
  const { ranked, out } = explain(ask("m", { api: "speech" }), context);
  expect(ranked.map(({ worker, api }) => [worker, api])).toEqual([
    ["tts", "speech"],
    ["unknown", "speech"],
  ]);
  expect(out).toEqual([
    { worker: "ollama", reason: expect.stringContaining("does not serve speech with it: ollama speaks chat, ") },
  ]);
});
