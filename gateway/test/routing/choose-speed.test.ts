import { expect, it } from "vitest";
import { choose } from "../../src/routing/choose.ts";
import type { Strategy } from "../../src/routing/types.ts";
import { ask, busy, farm, model, sent, weighing, worker } from "./farm.ts";

const WORKERS = 1_000;
const MODELS = 100;

it.each<[Strategy, string]>([
  ["least-connections", "by sets alone"],
  ["weighted", "by sets alone"],
  ["least-connections", "weighing waits"],
])("chooses among 1,000 workers with 100 models each at once: %s, %s", (strategy, how) => {
  const states = ["warm", "cold", "unknown", "loading"] as const;
  const workers = Array.from({ length: WORKERS }, (_, w) => {
    const models = Array.from({ length: MODELS }, (_, m) => model(`model-${m}`, states[(w + m) % 4] ?? "cold"));
    return worker(`worker-${w}`, { models, weight: 1 + (w % 7) });
  });
  const plain = farm(workers, strategy);
  const context = how === "weighing waits" ? weighing(plain) : plain;
  const tried = new Set<string>();
  const times: number[] = [];
  for (let i = 0; i < 600; i += 1) {
    const request = ask(`model-${i % MODELS}`);
    const start = performance.now();
    const choice = sent(choose(request, context, tried));
    times.push(performance.now() - start);
    context.inflight.enter(choice.worker.config.name, request.key);
    context.turns.picked(choice.worker.config.name, request.key, choice.turnWeight);
  }
  const median = times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
  // Some 0.4 ms on a quiet machine, most of it for finding the model in the maps of so many workers.
  expect(median).toBeLessThan(5);
});

it("chooses at once where every leading worker is full and must be weighed against the cold ones", () => {
  const figures = { slots: 1, serviceMs: 40_000, loadMs: 25_000 };
  const workers = Array.from({ length: WORKERS }, (_, w) =>
    worker(`worker-${w}`, { models: [model("m", w % 4 === 0 ? "warm" : "cold", figures)] }),
  );
  const context = weighing(farm(workers));
  for (let w = 0; w < WORKERS; w += 4) busy(context, `worker-${w}`, 1);
  const times: number[] = [];
  for (let i = 0; i < 300; i += 1) {
    const start = performance.now();
    const { weighed } = sent(choose(ask("m"), context, new Set()));
    times.push(performance.now() - start);
    expect(weighed?.decision).toBe("swap");
  }
  const median = times.sort((a, b) => a - b)[times.length >> 1] ?? 0;
  // Some 0.2 ms on a quiet machine; a request that would wait for seconds can afford it.
  expect(median).toBeLessThan(10);
});
