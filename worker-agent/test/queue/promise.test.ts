import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { waitBound } from "../../src/queue/bound.ts";
import { type Longest, promisedRest, promisedWait, termsOf, type Told } from "../../src/queue/promise.ts";
import { swappedModels } from "../../src/queue/swappable.ts";
import type { ModelRules, SchedulerRules } from "../../src/queue/types.ts";

const MINUTE = 60_000;
const THREE_MINUTES: Longest = { loadMs: () => 3 * MINUTE, answerMs: MINUTE };

function model(name: string, more: Partial<ModelRules> = {}): ModelRules {
  const rest = { ttl: 0, preload: false, restart: false, unloads: true };
  return { name, slots: 4, memory: null, pinned: false, ...rest, ...more };
}

/** Default rules with these models. */
function rules(models: readonly ModelRules[], over: Partial<SchedulerRules> = {}): SchedulerRules {
  const failures = { failureLimit: 3, failureReset: 300_000 };
  return { maxBatch: 64, maxWait: MINUTE, minResident: 0, maxDepth: 1_000, ...failures, budget: 0, models, ...over };
}

const names = (models: readonly ModelRules[]) => models.map(({ name }) => name);
const [a, b, c] = [model("a"), model("b"), model("c")];

describe("the models that are swapped", () => {
  it("are all of them without a budget, if there is more than one", () => {
    expect(names(swappedModels(rules([a, b])))).toEqual(["a", "b"]);
    expect(swappedModels(rules([a]))).toEqual([]);
  });

  it("are not the pinned ones", () => {
    const pinned = model("p", { pinned: true });
    expect(swappedModels(rules([a, pinned]))).toEqual([]);
    expect(names(swappedModels(rules([a, b, pinned])))).toEqual(["a", "b"]);
  });

  it("are not those that nothing takes out of memory, but those that replace one another, whatever fits", () => {
    const stays = model("s", { unloads: false, replacedIn: null });
    expect(swappedModels(rules([a, stays]))).toEqual([]);
    expect(names(swappedModels(rules([a, b, stays])))).toEqual(["a", "b"]);
    const replaced = ["x", "y"].map((name) => model(name, { memory: 1, unloads: false }));
    expect(names(swappedModels(rules([...replaced, model("z", { memory: 1 })], { budget: 8 })))).toEqual([
      "x",
      "y",
      "z",
    ]);
  });

  it("are none, if all fit into the budget at once", () => {
    const sized = [model("a", { memory: 4 }), model("b", { memory: 4, pinned: true })];
    expect(swappedModels(rules(sized, { budget: 8 }))).toEqual([]);
    expect(names(swappedModels(rules(sized, { budget: 7 })))).toEqual(["a"]);
    expect(names(swappedModels(rules([...sized, c], { budget: 100 })))).toEqual(["a", "c"]);
  });
});

describe("the promise on waiting", () => {
  it("is 22 minutes for three models of 180 s at default settings and answers of a minute", () => {
    for (const loaded of [true, false]) {
      expect(promisedWait(a, { place: 1, loaded }, termsOf(rules([a, b, c]), THREE_MINUTES))).toBe(22 * MINUTE);
    }
  });

  it("stands on the longest load of the models that are swapped, and on their slots", () => {
    const pinned = model("p", { pinned: true, slots: 1 });
    const longest = { loadMs: (name: string) => (name === "p" ? 99 * MINUTE : MINUTE), answerMs: MINUTE };
    const at = { longestLoad: MINUTE, longestAnswer: MINUTE, models: 2, place: 9 };
    const bound = waitBound(rules([a, b]), at);
    expect(promisedWait(a, { place: 9, loaded: false }, termsOf(rules([a, b, pinned]), longest))).toBe(bound);
  });

  it("is the answers before it for a model that stays, and the loads before it until it is loaded", () => {
    const pinned = model("p", { pinned: true, slots: 2 });
    const beside = termsOf(rules([a, b, pinned]), THREE_MINUTES);
    expect(promisedWait(pinned, { place: 1, loaded: true }, beside)).toBe(MINUTE);
    expect(promisedWait(pinned, { place: 5, loaded: true }, beside)).toBe(3 * MINUTE);
    expect(promisedWait(pinned, { place: 1, loaded: false }, beside)).toBe((9 + 2 + 1) * MINUTE);
    expect(promisedWait(a, { place: 1, loaded: false }, termsOf(rules([a]), THREE_MINUTES))).toBe(4 * MINUTE);
  });
});

describe("what is left of it for one that waits", () => {
  const three = termsOf(rules([a, b, c]), THREE_MINUTES);
  const job = (position: number, waitedMs: number) => {
    return { id: "1", requestId: "r1", model: "a", priority: "interactive" as const, position, waitedMs };
  };
  const cold = (at: number) => ({ at, loaded: false });

  it("counts down from what it was when it came", () => {
    const first = promisedRest(job(1, 0), null, cold(0), three);
    expect(first?.restMs).toBe(22 * MINUTE);
    const later = promisedRest(job(1, 10 * MINUTE), first?.told ?? null, cold(10 * MINUTE), three);
    expect(later?.restMs).toBe(12 * MINUTE);
    const last = promisedRest(job(1, 30 * MINUTE), later?.told ?? null, cold(30 * MINUTE), three);
    expect(last?.restMs).toBe(0);
  });

  it("counts the wait so far of one that was not seen before, as far as it brought it nearer", () => {
    const rest = (waitedMs: number) => promisedRest(job(1, waitedMs), null, cold(99), three)?.restMs;
    expect(rest(30_000)).toBe(21.5 * MINUTE);
    expect(rest(MINUTE)).toBe(21 * MINUTE);
    // It may have been at place 500 and have had turns of its own.
    expect(rest(60 * MINUTE)).toBe(21 * MINUTE);
  });

  it("gets better with its place, and not worse when others are let in before it", () => {
    const far = promisedRest(job(9, 0), null, cold(0), three);
    expect(far?.restMs).toBe(64 * MINUTE);
    const near = promisedRest(job(1, 5 * MINUTE), far?.told ?? null, cold(5 * MINUTE), three);
    expect(near?.restMs).toBe(21 * MINUTE);
    const again = promisedRest(job(9, 6 * MINUTE), near?.told ?? null, cold(6 * MINUTE), three);
    expect(again?.restMs).toBe(20 * MINUTE);
  });

  it("leaves a batch job time to be overtaken, until it counts as interactive", () => {
    const batch = { ...job(1, 30_000), priority: "batch" as const };
    const first = promisedRest(batch, null, cold(0), three);
    expect(first?.restMs).toBe(22.5 * MINUTE);
    const grown = promisedRest(job(1, MINUTE), first?.told ?? null, cold(30_000), three);
    expect(grown?.restMs).toBe(21 * MINUTE);
  });

  it("is told anew when longer answers were seen", () => {
    const first = promisedRest(job(1, 0), null, cold(0), three);
    const longer = termsOf(rules([a, b, c]), { ...THREE_MINUTES, answerMs: 2 * MINUTE });
    const rest = promisedRest(job(1, MINUTE), first?.told ?? null, cold(MINUTE), longer)?.restMs;
    expect(rest).toBe(promisedWait(a, { place: 1, loaded: false }, longer) - MINUTE);
  });

  it("is not known for a model that is gone", () => {
    expect(promisedRest({ ...job(1, 0), model: "gone" }, null, cold(0), three)).toBe(null);
  });

  it("is never negative, and for one place its end never moves away", () => {
    const look = fc.record({
      after: fc.nat(600_000),
      position: fc.integer({ min: 1, max: 300 }),
      loaded: fc.boolean(),
    });
    const farm = fc.record({
      pinned: fc.boolean(),
      slots: fc.integer({ min: 1, max: 8 }),
      memory: fc.option(fc.nat(20)),
      budget: fc.constantFrom(0, 20),
      maxBatch: fc.integer({ min: 1, max: 100 }),
      maxWait: fc.nat(200_000),
      answerMs: fc.nat(200_000),
    });
    fc.assert(
      fc.property(farm, fc.array(look), ({ answerMs, pinned, slots, memory, ...queue }, looks) => {
        const varied = termsOf(rules([model("a", { pinned, slots, memory }), b, c], queue), {
          ...THREE_MINUTES,
          answerMs,
        });
        let [at, told, end] = [0, null as Told | null, Number.POSITIVE_INFINITY];
        for (const { after, position, loaded } of looks) {
          at += after;
          const rest = promisedRest(job(position, at), told, { at, loaded }, varied);
          expect(rest?.restMs).toBeGreaterThanOrEqual(0);
          const next = at + (rest?.restMs ?? 0);
          // One that is over stays over.
          expect(next).toBeLessThanOrEqual(Math.max(end, at));
          end = Math.min(end, next);
          told = rest?.told ?? null;
        }
      }),
    );
  });
});
