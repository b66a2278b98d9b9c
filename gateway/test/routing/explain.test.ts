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
    ranked: [
      {
        worker: "warm",
        set: "leading",
        warmth: "warm",
        reason: "has it loaded; the only such worker with room",
        inflight: 0,
        upstreamModel: "m",
      },
      {
        worker: "full",
        set: "leading",
        warmth: "possibly-warm",
        reason: "lists it and cannot say whether it is loaded; at its cap of 1: a request would wait",
        inflight: 1,
        upstreamModel: "M:latest",
      },
      {
        worker: "cold",
        set: "cold",
        warmth: "cold",
        reason: "has it, not loaded; the only such worker with room",
        inflight: 0,
        upstreamModel: "m",
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
