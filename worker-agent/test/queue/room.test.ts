import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Drive } from "./drive.ts";
import { rulesFor } from "./workload.ts";
import type { Arrival } from "./workload.ts";

const LONG = 60_000;

/** The queue of a model that is answering for a minute, so that all that come meanwhile wait. */
function refused(maxDepth: number, slots: Record<string, number>, arrivals: readonly Arrival[]): string[] {
  const busy = Array.from({ length: slots["a"] ?? 1 }, (_, index) => ({
    id: `busy${index}`,
    at: 0,
    model: "a",
    answerMs: LONG,
  }));
  const drive = new Drive({
    rules: rulesFor(slots, { maxDepth }),
    found: "a",
    loadMs: 1,
    arrivals: [...busy, ...arrivals],
  });
  drive.run(LONG - 1);
  const gone = [...drive.ended].filter(([, { how }]) => how === "queue_full").map(([id]) => id);
  drive.run();
  return gone;
}

const burst = (count: number, caller: string, model = "a", at = 1): Arrival[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${caller}${index}`, at, model, caller, answerMs: 10 }));

describe("R9, room in the queue", () => {
  it("is kept for another caller: the newest of the burst makes way", () => {
    const y = { id: "y", at: 5, model: "a", caller: "y" };
    expect(refused(10, { a: 2 }, [...burst(12, "x"), y])).toEqual(["x10", "x11", "x9"]);
  });

  it("is kept for another model of the same caller", () => {
    const other = { id: "b", at: 5, model: "b", caller: "x" };
    expect(refused(10, { a: 1, b: 1 }, [...burst(10, "x"), other])).toEqual(["x9"]);
  });

  it("is no more than the model's slots for each, and the largest burst gives first", () => {
    const arrivals = [...burst(6, "x"), ...burst(4, "y"), ...burst(3, "z", "a", 5)];
    expect(refused(10, { a: 2 }, arrivals)).toEqual(["x5", "x4", "z2"]);
  });

  it("is gone when everybody has only what is theirs", () => {
    const each = ["u", "v", "w", "x"].map((caller, index) => ({ id: caller, at: index + 1, model: "a", caller }));
    expect(refused(3, { a: 1 }, each)).toEqual(["x"]);
  });

  it("never takes a pair's last places, and never lets more than maxDepth wait", () => {
    const arrival = fc.record({
      caller: fc.constantFrom("x", "y", "z"),
      model: fc.constantFrom("a" as const, "b" as const),
    });
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 40 }), fc.integer({ min: 0, max: 12 }), (list, maxDepth) => {
        const arrivals = list.map((one, index) => ({ ...one, id: String(index), at: index + 1, answerMs: 10 }));
        const slots = { a: 2, b: 1 };
        const gone = new Set(refused(maxDepth, slots, arrivals));
        const waits = (caller: string, model: string) =>
          arrivals.filter((one) => one.caller === caller && one.model === model && !gone.has(one.id)).length;
        expect(arrivals.length - gone.size).toBe(Math.min(arrivals.length, maxDepth));
        const overfull = ["x", "y", "z"].some((caller) => waits(caller, "a") > 2 || waits(caller, "b") > 1);
        const short = arrivals.filter(({ id, caller, model }) => gone.has(id) && waits(caller, model) < slots[model]);
        expect(overfull && short.length > 0).toBe(false);
      }),
      { numRuns: 300 },
    );
  });
});
