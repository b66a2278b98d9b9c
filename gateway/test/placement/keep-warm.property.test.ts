import type { ModelState } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WorkerEntry } from "../../src/catalog/types.ts";
import { decideLoads, type LoadOrder } from "../../src/placement/decide-loads.ts";
import { fitOf, mayGoFor } from "../../src/placement/fit.ts";
import { NO_ORDERS, observed, type OrderBook, ordered } from "../../src/placement/orders.ts";
import { hasWarmCopy } from "../../src/placement/usable.ts";
import { machine, shown, viewOf, want } from "./view.ts";

const MODELS = ["k", "l", "m", "x"];
const states = fc.record(
  Object.fromEntries(MODELS.map((id) => [id, fc.constantFrom<ModelState>("cold", "cold", "warm", "failed")])),
  { requiredKeys: [] },
) as fc.Arbitrary<Record<string, ModelState>>;
const anyWorker = fc.record({
  states,
  fits: fc.nat(3),
  silent: fc.constantFrom(false, false, true),
  trouble: fc.constantFrom({}, {}, {}, { draining: true }, { refused: true }, { health: "unhealthy" as const }),
});
type AnyWorker = typeof anyWorker extends fc.Arbitrary<infer T> ? T : never;
const anyWanted = fc.dictionary(fc.constantFrom("k", "l", "m"), fc.integer({ min: 1, max: 3 }), { minKeys: 1 });

/** Machines that do what they are told: a load takes out models of the first order until it fits. */
class Simulated {
  readonly workers: (AnyWorker & { name: string })[];
  orders: OrderBook = NO_ORDERS;
  now = 1_000;

  constructor(workers: readonly AnyWorker[]) {
    this.workers = workers.map((each, i) => {
      // What is warm at the start must fit.
      let room = each.silent ? MODELS.length : Math.max(1, each.fits);
      const fitting = Object.entries(each.states).map(([id, state]) => [
        id,
        state === "warm" && room-- <= 0 ? "cold" : state,
      ]);
      return { ...each, name: `w${i}`, states: Object.fromEntries(fitting) as Record<string, ModelState> };
    });
  }

  entries(): WorkerEntry[] {
    return this.workers.map(({ name, states, fits, silent, trouble }) => {
      const usedBytes = 10 * Object.values(states).filter((state) => state === "warm").length;
      return machine(name, states, { memory: silent ? null : { budgetBytes: 10 * fits, usedBytes }, ...trouble });
    });
  }

  decide(wanted: Record<string, number>): readonly LoadOrder[] {
    this.orders = observed(this.orders, viewOf(this.entries()).catalog, new Set(Object.keys(wanted)), this.now);
    const loads = decideLoads(want(wanted), viewOf(this.entries(), this.orders, this.now));
    for (const load of loads) this.orders = ordered(this.orders, { ...load, wasFailed: false }, this.now);
    return loads;
  }

  load({ worker, model }: LoadOrder, becomes: ModelState): void {
    const at = this.workers.find(({ name }) => name === worker);
    if (at === undefined) return;
    if (!at.silent) {
      const warm = () => Object.keys(at.states).filter((id) => at.states[id] === "warm");
      for (const victim of warm()) if (warm().length + 1 > Math.max(1, at.fits)) at.states[victim] = "cold";
    }
    at.states[model] = becomes;
  }

  copies(key: string): number {
    return this.entries().filter((entry) => hasWarmCopy(entry, key, this.now)).length;
  }
}

describe("whatever the farm", () => {
  it("no order exceeds what is missing, goes to a worker that is out, to one twice, or takes a needed copy", () => {
    fc.assert(
      fc.property(fc.array(anyWorker, { maxLength: 6 }), anyWanted, (workers, wanted) => {
        const farm = new Simulated(workers);
        const entries = new Map(farm.entries().map((entry) => [entry.config.name, entry]));
        const before = Object.fromEntries(Object.keys(wanted).map((key) => [key, farm.copies(key)]));
        const loads = farm.decide(wanted);
        const problems: string[] = [];
        if (new Set(loads.map(({ worker }) => worker)).size < loads.length) problems.push("two for one worker");
        for (const [key, count] of Object.entries(wanted)) {
          const more = loads.filter((load) => load.key === key).length;
          if (more > 0 && (before[key] ?? 0) + more > count + lostCopies(key)) problems.push(`too many of ${key}`);
          if (farm.copies(key) - lostCopies(key) < Math.min(before[key] ?? 0, count)) problems.push(`${key} is lost`);
        }
        for (const load of loads) {
          const entry = entries.get(load.worker);
          const out = entry === undefined || entry.draining || entry.refused || entry.health !== "healthy";
          const state = entry?.byKey.get(load.key)?.state;
          if (out || state === "warm" || state === undefined) problems.push(`${shown(load)} is of no use`);
        }
        expect(problems).toEqual([]);

        /** Warm copies that the orders take out at worst. */
        function lostCopies(key: string): number {
          return loads.filter((load) => {
            const entry = entries.get(load.worker);
            const coming = entry?.byKey.get(load.key);
            if (entry === undefined || coming === undefined || fitOf(entry, coming) !== "evicts") return false;
            return mayGoFor(entry, coming).some(({ id }) => id === key);
          }).length;
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("where orders succeed, one model ends with all the copies that can be had, and then nothing is ordered", () => {
    fc.assert(
      fc.property(fc.array(anyWorker, { maxLength: 6 }), fc.integer({ min: 1, max: 4 }), (workers, count) => {
        const farm = new Simulated(workers);
        const able = farm.workers.filter(
          ({ states, trouble }) =>
            states["m"] !== undefined && !("draining" in trouble || "refused" in trouble || "health" in trouble),
        ).length;
        const had = farm.copies("m");
        for (let round = 0; round < 3; round += 1)
          for (const load of farm.decide({ m: count })) farm.load(load, "warm");
        expect(farm.copies("m")).toBe(Math.max(had, Math.min(count, able)));
        expect(farm.decide({ m: count })).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  it("once loads that fail, machines that die and models that are taken out come to rest, so do the orders", () => {
    const event = fc.record({
      at: fc.nat(5),
      what: fc.constantFrom("die", "come back", "take out", "fail", "pass"),
      seconds: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(
        fc.array(anyWorker, { minLength: 1, maxLength: 6 }),
        anyWanted,
        fc.array(event, { maxLength: 30 }),
        (workers, wanted, events) => {
          const farm = new Simulated(workers);
          for (const { at, what, seconds } of events) {
            farm.now += 1_000 * seconds;
            const worker = farm.workers[at % farm.workers.length];
            if (worker !== undefined && what === "die") {
              worker.trouble = { health: "unhealthy" };
              for (const id of Object.keys(worker.states)) worker.states[id] = "cold";
            }
            if (worker !== undefined && what === "come back") worker.trouble = {};
            if (worker !== undefined && what === "take out") {
              for (const [id, state] of Object.entries(worker.states)) if (state === "warm") worker.states[id] = "cold";
            }
            for (const load of farm.decide(wanted)) farm.load(load, what === "fail" ? "failed" : "warm");
          }
          // Longer than any pause, and then again: what is ordered now is ordered for good.
          const rounds: number[] = [];
          for (let round = 0; round < 8; round += 1) {
            farm.now += 601_000;
            const loads = farm.decide(wanted);
            for (const load of loads) farm.load(load, "warm");
            rounds.push(loads.length);
          }
          const most = Object.values(wanted).reduce((sum, count) => sum + count, 0);
          expect(rounds.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(most);
          expect(rounds.slice(-4)).toEqual([0, 0, 0, 0]);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
