import { seededRandom } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fifo } from "../../src/queue/fifo.ts";
import { Drive } from "./drive.ts";
import { rulesFor } from "./workload.ts";
import type { Arrival, Workload } from "./workload.ts";
import { steadyWorkload, worstAgainstBound } from "./workloads.ts";

const MODELS = ["a", "b", "c"];

const arrival = fc.record({
  at: fc.nat(2_000),
  model: fc.constantFrom(...MODELS),
  caller: fc.constantFrom("", "x", "y"),
  priority: fc.constantFrom("interactive" as const, "batch" as const),
  kind: fc.constantFrom("request" as const, "request" as const, "request" as const, "load" as const),
  answerMs: fc.nat(400),
  patience: fc.option(fc.nat(1_500), { freq: 2 }),
  deadline: fc.option(fc.integer({ min: -50, max: 1_500 }), { freq: 2 }),
  waitedBefore: fc.constantFrom(0, 0, 0, 300),
});

const rules = fc.record({
  maxBatch: fc.constantFrom(1, 2, 5, 64),
  maxWait: fc.constantFrom(0, 50, 300, 2_000),
  minResident: fc.constantFrom(0, 0, 200.000_1, 3_000.000_1),
  gather: fc.constantFrom(0, 0, 20.000_01),
  maxDepth: fc.constantFrom(0, 3, 1_000),
  failureLimit: fc.constantFrom(1, 2, 3),
  failureReset: fc.constantFrom(0, 100, 1_000),
});

/**
 * Anything may happen, but no two things at the very same time (hence the fractions of a millisecond): which of two
 * such events comes first is nobody's promise.
 */
const chaos = fc
  .record({
    rules,
    slots: fc.tuple(...MODELS.map(() => fc.integer({ min: 1, max: 4 }))),
    found: fc.option(fc.constantFrom(...MODELS)),
    loads: fc.tuple(...MODELS.map(() => fc.integer({ min: 1, max: 800 }))),
    arrivals: fc.array(arrival, { maxLength: 60 }),
    failing: fc.array(fc.boolean(), { minLength: 1, maxLength: 6 }),
    lostAt: fc.array(fc.nat(4_000), { maxLength: 4 }),
    tickLateMs: fc.constantFrom(0, 0, 1, 250),
    strict: fc.constantFrom(false, false, false, true),
  })
  .map(({ rules, slots, found, loads, arrivals, failing, lostAt, tickLateMs, strict }): Workload => {
    const index = (model: string) => MODELS.indexOf(model);
    return {
      rules: rulesFor(Object.fromEntries(MODELS.map((name, index) => [name, slots[index] ?? 1])), rules),
      ...(found === null ? {} : { found }),
      ...(strict ? { policy: fifo } : {}),
      loadMs: (model) => (loads[index(model)] ?? 1) + 0.000_07,
      fails: (model, attempt) => failing[(index(model) + attempt) % failing.length] ?? false,
      lostAt,
      tickLateMs,
      arrivals: arrivals.map(({ patience, deadline, waitedBefore, at: whole, ...rest }, place): Arrival => {
        const at = whole + place / 1_000;
        return {
          ...rest,
          at,
          id: String(place),
          arrivedAt: at - waitedBefore,
          deadlineAt: deadline === null ? null : at + deadline + 0.000_3,
          ...(patience === null ? {} : { leaveAt: at + patience + 0.000_5 }),
        };
      }),
    };
  });

const outcome = (drive: Drive) => ({ granted: [...drive.grantedAt], swaps: drive.swaps, ended: [...drive.ended] });

describe("whatever happens", () => {
  it("every job ends once, on a model that is ready, within its slots, and one swap runs at a time, for somebody who waits", () => {
    fc.assert(
      fc.property(chaos, (work) => {
        const drive = new Drive(work).run();
        expect(drive.ended.size).toBe(work.arrivals.length);
      }),
      { numRuns: 600 },
    );
  });

  it("no moment is missed for want of a wake: ticks that nobody asked for change nothing", () => {
    fc.assert(
      fc.property(chaos, fc.constantFrom(1, 7, 50), (work, extraTickMs) => {
        const exact = { ...work, tickLateMs: 0 };
        expect(outcome(new Drive({ ...exact, extraTickMs }).run())).toEqual(outcome(new Drive(exact).run()));
      }),
      { numRuns: 200 },
    );
  });

  it("no job is granted after its caller left or its deadline passed", () => {
    fc.assert(
      fc.property(chaos, (work) => {
        const drive = new Drive({ ...work, tickLateMs: 0 }).run();
        for (const { id, leaveAt, deadlineAt } of work.arrivals) {
          const at = drive.grantedAt.get(id) ?? Number.NEGATIVE_INFINITY;
          expect(at).toBeLessThanOrEqual(leaveAt ?? Number.POSITIVE_INFINITY);
          expect(at).toBeLessThan(deadlineAt ?? Number.POSITIVE_INFINITY);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("without impatience every load that succeeds serves somebody", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        const drive = new Drive(steadyWorkload(seededRandom(seed), { mixed: true })).run();
        expect(drive.servedPerLoad.every((served) => served >= 1)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("several callers and batch jobs wait no longer than the bound for their place, beside loads that fail", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 31 }), (seed) => {
        const { ratio } = worstAgainstBound(steadyWorkload(seededRandom(seed), { mixed: true }));
        expect(ratio).toBeLessThanOrEqual(1);
      }),
      { numRuns: 300 },
    );
  });
});
