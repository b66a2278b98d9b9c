import * as fc from "fast-check";
import type { ModelState } from "@farmgate/shared";
import type { WorkerEntry } from "../../src/catalog/types.ts";
import type { Strategy } from "../../src/routing/types.ts";
import type { AnyFarm } from "./arbitrary-farm.ts";
import { ask, busy, farm, model, weighing, worker } from "./farm.ts";

const usually = <T>(value: T, ...others: T[]) =>
  fc.oneof({ weight: 8, arbitrary: fc.constant<T>(value) }, { weight: 1, arbitrary: fc.constantFrom<T[]>(...others) });
const known = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 8 });
const time = fc.integer({ min: 0, max: 60_000 });

/** A worker that is mostly well, with the model warm or cold on it. */
const place = fc.record({
  state: fc.constantFrom<ModelState>("warm", "warm", "cold", "cold", "cold", "loading", "unknown", "failed"),
  health: usually<WorkerEntry["health"]>("healthy", "unknown", "unhealthy"),
  catalog: usually<WorkerEntry["catalog"]>("fresh", "stale", "unreachable"),
  engine: fc.constantFrom("agent" as const, null),
  refused: usually(false, true),
  draining: usually(false, true),
  maxConcurrent: usually(0, 1, 2, 3),
  weight: fc.constantFrom(null, null, 1, 2),
  usedBytes: fc.constantFrom(0, 7),
  budgetBytes: fc.constantFrom(0, 10, 20),
  before: fc.record({ m: fc.nat(3), another: fc.nat(1) }),
  since: fc.record({ m: fc.nat(3), another: fc.nat(1) }),
});
/** What its catalogue tells of times and of its queue. */
const told = fc.record({
  slots: known(fc.constantFrom(1, 1, 2)),
  queued: fc.constantFrom(null, 0, 0, 3),
  serviceMs: known(time),
  loadMs: known(time),
  predictedWaitMs: fc.oneof(fc.constant(null), fc.constant(0), time),
  memoryBytes: fc.constantFrom(null, 5, 10),
});

/** Up to eight workers, where waiting is weighed, and a request for `m`; the `unknown` figures nobody tells of any. */
export function anyWeighingFarm(...unknown: ("serviceMs" | "loadMs" | "predictedWaitMs")[]): fc.Arbitrary<AnyFarm> {
  return fc
    .record({
      workers: fc.array(fc.tuple(place, told, known(time)), { minLength: 1, maxLength: 8 }),
      strategy: fc.constantFrom<Strategy>("least-connections", "weighted", "round-robin"),
      waitingAhead: fc.nat(3),
      noted: fc.boolean(),
    })
    .map(({ workers, strategy, waitingAhead, noted }) => {
      const entries = workers.map(([{ state, usedBytes, budgetBytes, ...sketch }, figures, otherMs], i) => {
        const tells = { ...figures, ...Object.fromEntries(unknown.map((field) => [field, null])) };
        const others = { serviceMs: unknown.includes("serviceMs") ? null : otherMs };
        const models = [model("m", state, tells), model("another", "warm", others)];
        return worker(`w${i}`, { ...sketch, models, memory: { usedBytes, budgetBytes } });
      });
      const context = weighing(farm(entries, strategy), waitingAhead);
      for (const [i, [{ before, since, state }]] of workers.entries()) {
        for (const [at, counts] of [before, since].entries()) {
          // A cold one is left alone mostly: what is sent there makes it load.
          busy(context, `w${i}`, state === "cold" && counts.m < 3 ? 0 : counts.m);
          busy(context, `w${i}`, counts.another, "another");
          if (noted && at === 0) context.inflight.polled(`w${i}`);
        }
      }
      return { context, request: ask("m") };
    });
}
