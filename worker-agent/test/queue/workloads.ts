import type { Random } from "@farmgate/shared";
import { waitBound } from "../../src/queue/bound.ts";
import type { ModelRules } from "../../src/queue/types.ts";
import { Drive } from "./drive.ts";
import { rulesFor } from "./workload.ts";
import type { Arrival, Workload } from "./workload.ts";

/** Which random workloads. */
export interface Kind {
  /** Several callers, both priorities, loads that fail; else one caller whose requests are all interactive. */
  mixed: boolean;
  /** Models of known sizes that fit together in part; else one at a time. */
  together?: boolean;
}

/** A random workload such as the bound speaks of; every part of it comes from `random` alone. */
export function steadyWorkload(random: Random, { mixed, together = false }: Kind = { mixed: false }): Workload {
  const between = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  const pick = <T>(values: readonly T[]) => values.at(Math.floor(random() * values.length)) as T;
  const names = ["a", "b", "c", "d", "e"].slice(0, between(1, 5));
  const slots = Object.fromEntries(names.map((name) => [name, between(1, 6)]));
  const rules = rulesFor(slots, {
    maxBatch: pick([1, 2, 5, 16, 64]),
    maxWait: pick([0, 100, 1_000, 10_000, 60_000]),
    minResident: pick([0, 0, 0, 500, 5_000, 100_000]),
    failureLimit: pick([2, 1_000]),
    gather: pick([0, 0, 20, 300]),
  });
  const loads = Object.fromEntries(names.map((name) => [name, pick([1, 50, 2_000, 30_000, 180_000])]));
  const longest = pick([10, 500, 5_000, 60_000]);
  const spread = pick([1_000, 60_000, 1_800_000]);
  const skew = pick([0, 1, 4]);
  const total = pick([10, 60, 300]);
  const even = pick([true, false]);
  const callers = mixed ? between(1, 4) : 1;
  const arrivals: Arrival[] = [];
  for (let index = 0; index < total; index += 1) {
    const model = names.at(Math.floor(random() ** (1 + skew) * names.length)) as string;
    const at = even ? Math.floor((index * spread) / total) : between(0, spread);
    const answerMs = random() < 0.5 ? longest : between(0, longest);
    const caller = String(between(1, callers));
    const priority = mixed && random() < 0.3 ? "batch" : "interactive";
    arrivals.push({ at, id: String(index), model, answerMs, caller, priority });
  }
  arrivals.sort((a, b) => a.at - b.at);
  const fit = together ? sizes(random, rules.models) : {};
  const found = random() < 0.5 ? { found: pick(names) } : {};
  const failing = mixed ? pick([0, 0, 0.2, 0.6]) : 0;
  return {
    rules: { ...rules, ...fit },
    ...found,
    loadMs: (model) => loads[model] ?? 0,
    arrivals,
    fails: () => random() < failing,
  };
}

/** A budget of which each model needs up to all. */
function sizes(random: Random, models: readonly ModelRules[]) {
  const budget = 10;
  const largest = random() < 0.5 ? budget : 6;
  const sized = models.map((model) => ({ ...model, memory: 1 + Math.floor(random() * largest) }));
  return { budget, models: sized };
}

export interface Worst {
  ratio: number;
  wait: number;
  bound: number;
  id: string;
}

/**
 * Runs the workload and compares each job's wait with the bound for its place on arrival: its place among its caller's
 * jobs times the callers of its model. A batch job may be overtaken for `maxWait`, after which the bound counts.
 */
export function worstAgainstBound(work: Workload): Worst & { drive: Drive } {
  const { loadMs, rules, arrivals } = work;
  const drive = new Drive(work);
  const lanes = new Map<string, Set<string>>();
  const places = new Map<string, number>();
  arrivals.forEach(({ at, id, model, caller }) => {
    const lane = lanes.get(`${model} ${caller}`) ?? new Set();
    lanes.set(`${model} ${caller}`, lane);
    // After every arrival of this instant, so that the job waits or has been granted.
    drive.at(at, () => {
      for (const other of lane) if (drive.grantedAt.has(other)) lane.delete(other);
      lane.add(id);
      places.set(id, lane.size);
    });
  });
  drive.run();
  const used = new Set(arrivals.map(({ model }) => model));
  for (const model of [work.found ?? []].flat()) used.add(model);
  const longestLoad = Math.max(...[...used].map((name) => (typeof loadMs === "number" ? loadMs : loadMs(name))));
  const longestAnswer = Math.max(...arrivals.map(({ answerMs }) => answerMs ?? 100));
  let worst: Worst = { ratio: 0, wait: 0, bound: 0, id: "" };
  for (const { id, model, priority } of arrivals) {
    const wait = drive.waits.get(id) ?? 0;
    const callers = [...lanes.keys()].filter((lane) => lane.startsWith(`${model} `)).length;
    const place = (places.get(id) ?? 1) * callers;
    const overtaken = priority === "batch" ? rules.maxWait : 0;
    const bound = overtaken + waitBound(rules, { longestLoad, longestAnswer, models: used.size, place });
    if (wait > worst.ratio * bound) worst = { ratio: wait / bound, wait, bound, id };
  }
  return { ...worst, drive };
}
