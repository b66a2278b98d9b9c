import { expect, it } from "vitest";
import { choose } from "../../src/routing/choose.ts";
import type { Strategy } from "../../src/routing/types.ts";
import { ask, farm, model, sent, worker } from "./farm.ts";

const WORKERS = 1_000;
const MODELS = 100;

it.each<Strategy>(["least-connections", "weighted"])(
  "chooses among 1,000 workers with 100 models each at once: %s",
  (strategy) => {
    const states = ["warm", "cold", "unknown", "loading"] as const;
    const workers = Array.from({ length: WORKERS }, (_, w) => {
      const models = Array.from({ length: MODELS }, (_, m) => model(`model-${m}`, states[(w + m) % 4] ?? "cold"));
      return worker(`worker-${w}`, { models, weight: 1 + (w % 7) });
    });
    const context = farm(workers, strategy);
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
    // The aim is 0.1 ms on a quiet machine; the ceiling leaves room for a busy one.
    expect(median).toBeLessThan(1);
  },
);
