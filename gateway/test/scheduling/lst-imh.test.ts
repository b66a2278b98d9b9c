import "../../../test/harness/property-seed.ts";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { earliestFinish, hopelessOf, LstImh } from "../../src/scheduling/lst-imh.ts";
import { byDeadline, MooreHodgson, timeAt } from "../../src/scheduling/moore-hodgson.ts";
import { arbitraryJobs, arbitraryMachines, machine } from "./arbitrary-jobs.ts";
import { mostOnTime } from "./exact.ts";

const lst = new LstImh();
const READY_BY = 5;

function shuffled<T>(all: readonly T[], chance: Iterator<number>): T[] {
  const keyed = all.map((one) => ({ one, by: Number(chance.next().value) }));
  return keyed.sort((a, b) => a.by - b.by).map(({ one }) => one);
}

describe("what instances begin", () => {
  it("is the tightest job of the plan", () => {
    const waiting = [
      { processing: 2, deadline: 3 },
      { processing: 2, deadline: 5 },
    ];
    expect(lst.assign(waiting, [machine()], 0)).toBe(1);
    expect(lst.begins[0]).toBe(0);
  });

  it("is not the tightest where that would make more of the others late", () => {
    const waiting = [
      { processing: 10, deadline: 10 },
      { processing: 2, deadline: 11 },
      { processing: 3, deadline: 12 },
    ];
    lst.assign(waiting, [machine()], 0);
    expect(lst.begins[0]).toBe(1);
    expect(lst.onTime).toBe(2);
  });

  it("includes what one instance alone would drop and the others can make", () => {
    const waiting = [
      { processing: 6, deadline: 7 },
      { processing: 2, deadline: 8 },
      { processing: 2, deadline: 8 },
    ];
    expect(lst.assign(waiting, [machine(), machine({ availableAt: 1 })], 0)).toBe(1);
    expect(lst.begins[0]).toBe(0);
    expect(lst.onTime).toBe(3);
  });

  it("goes to the faster of two that are free, and to a slow one only what it makes in time", () => {
    const waiting = [
      { processing: 4, deadline: 5 },
      { processing: 4, deadline: 6 },
      { processing: 4, deadline: 40 },
    ];
    lst.assign(waiting, [machine({ slowness: 8 }), machine()], 0);
    expect([...lst.begins.subarray(0, 2)]).toEqual([2, 0]);
  });

  it("is nothing at an instance that is not ready", () => {
    expect(lst.assign([{ processing: 1, deadline: 9 }], [machine({ availableAt: 1 })], 0)).toBe(0);
    expect(lst.assign([{ processing: 1, deadline: 9 }], [machine({ availableAt: 1 })], 1)).toBe(1);
    expect(lst.assign([{ processing: 1, deadline: 9 }], [], 1)).toBe(0);
  });

  it("begins no job twice, none late, and none at an instance that is not ready", () => {
    const property = fc.property(arbitraryJobs(30), arbitraryMachines(6), (waiting, instances) => {
      const count = lst.assign(waiting, instances, READY_BY);
      const begun = new Set<number>();
      for (const [at, instance] of instances.entries()) {
        const position = lst.begins[at] ?? -1;
        if (position < 0) continue;
        const job = waiting[position];
        if (job === undefined) throw new Error("it begins what does not wait");
        expect(instance.availableAt).toBeLessThanOrEqual(READY_BY);
        expect(instance.availableAt + timeAt(instance, job)).toBeLessThanOrEqual(job.deadline);
        expect(lst.planned[position]).toBe(1);
        begun.add(position);
      }
      expect(begun.size).toBe(count);
    });
    fc.assert(property, { numRuns: 300 });
  });

  it("leaves no ready instance idle while one of the plan could begin there", () => {
    const property = fc.property(arbitraryJobs(20), arbitraryMachines(4), (waiting, instances) => {
      lst.assign(waiting, instances, READY_BY);
      const begun = new Set(lst.begins.subarray(0, instances.length));
      for (const [at, instance] of instances.entries()) {
        if (instance.availableAt > READY_BY || (lst.begins[at] ?? -1) >= 0) continue;
        for (const [position, job] of waiting.entries()) {
          if (lst.planned[position] === 0 || begun.has(position)) continue;
          expect(instance.availableAt + timeAt(instance, job)).toBeGreaterThan(job.deadline);
        }
      }
    });
    fc.assert(property, { numRuns: 300 });
  });
});

describe("the plan", () => {
  it("has at least half of what the best has, and all of it on one instance", () => {
    const property = fc.property(arbitraryJobs(7), arbitraryMachines(3), (waiting, instances) => {
      lst.assign(waiting, instances, READY_BY);
      const best = mostOnTime(waiting, instances);
      expect(lst.onTime).toBeLessThanOrEqual(best);
      expect(2 * lst.onTime).toBeGreaterThanOrEqual(best);
      expect(instances.length !== 1 || lst.onTime === best).toBe(true);
      expect(lst.planned.subarray(0, waiting.length).reduce((sum, mark) => sum + mark, 0)).toBe(lst.onTime);
    });
    fc.assert(property, { numRuns: 400 });
  });

  it("has as many in whatever order the jobs came and the instances stand", () => {
    const order = fc.infiniteStream(fc.nat(1_000));
    const property = fc.property(arbitraryJobs(20), arbitraryMachines(5), order, (waiting, instances, chance) => {
      // Of instances that are alike in time and speed, the overhead may still differ.
      const distinct = instances.map((one, at) => ({ ...one, availableAt: one.availableAt + at / 64 }));
      lst.assign(waiting, distinct, READY_BY);
      const before = lst.onTime;
      lst.assign(shuffled(waiting, chance).sort(byDeadline), shuffled(distinct, chance), READY_BY);
      expect(lst.onTime).toBe(before);
    });
    fc.assert(property, { numRuns: 200 });
  });

  it("is never smaller than what one instance has by itself", () => {
    const rule = new MooreHodgson();
    const property = fc.property(arbitraryJobs(40), arbitraryMachines(5), (waiting, instances) => {
      lst.assign(waiting, instances, READY_BY);
      const [first] = [...instances].sort((a, b) => a.availableAt - b.availableAt || a.slowness - b.slowness);
      expect(lst.onTime).toBeGreaterThanOrEqual(first === undefined ? 0 : rule.keep(waiting, first));
    });
    fc.assert(property, { numRuns: 200 });
  });
});

describe("what nobody can make", () => {
  it("is told with when it would be finished", () => {
    const waiting = [
      { processing: 4, deadline: 3 },
      { processing: 4, deadline: 20 },
    ];
    const instances = [machine({ availableAt: 2 }), machine({ slowness: 3 })];
    expect(hopelessOf(waiting, instances)).toEqual([{ job: waiting[0], earliestFinish: 6 }]);
    expect(earliestFinish({ processing: 4, deadline: 3 }, [])).toBe(Number.POSITIVE_INFINITY);
  });

  it("is never part of a plan, and what alone can be made is part of one", () => {
    const property = fc.property(arbitraryJobs(20), arbitraryMachines(4), (waiting, instances) => {
      lst.assign(waiting, instances, READY_BY);
      const lost = new Set(hopelessOf(waiting, instances).map(({ job }) => job));
      const lostYetPlanned = waiting.filter((job, position) => lost.has(job) && lst.planned[position] === 1);
      expect(lostYetPlanned).toEqual([]);
      expect(lst.onTime > 0).toBe(lost.size < waiting.length);
    });
    fc.assert(property, { numRuns: 200 });
  });
});
