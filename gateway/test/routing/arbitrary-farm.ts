import * as fc from "fast-check";
import type { ModelState } from "@farmgate/shared";
import type { RoutingRequest, Strategy } from "../../src/routing/types.ts";
import { ask, busy, type Farm, farm, model, worker } from "./farm.ts";

const state = fc.constantFrom<ModelState>("warm", "unknown", "loading", "cold", "failed");
/** A worker's own condition. */
const condition = fc.record({
  weight: fc.option(fc.integer({ min: 1, max: 8 }), { nil: null }),
  maxConcurrent: fc.constantFrom(0, 0, 1, 2),
  health: fc.constantFrom("healthy", "healthy", "healthy", "unknown", "unhealthy", "misconfigured"),
  catalog: fc.constantFrom("fresh", "fresh", "stale", "unreachable"),
  engine: fc.constantFrom(null, "agent", "mlx"),
  refusesUnknown: fc.boolean(),
  draining: fc.constantFrom(false, false, false, true),
  refused: fc.boolean(),
  deny: fc.constantFrom([], [], ["m"]),
});
/** What it has to do with the model, and what was sent there. */
const relation = fc.record({
  listed: fc.option(state, { nil: null }),
  slots: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }),
  aside: fc.boolean(),
  open: fc.constantFrom(null, null, null, 500, 2_000),
  inflight: fc.nat(3),
  elsewhere: fc.nat(2),
  turns: fc.nat(3),
});

export interface AnyFarm {
  context: Farm;
  request: RoutingRequest;
}

/** Up to eight workers in any condition, with requests under way, and a request for `m`. */
export const anyFarm: fc.Arbitrary<AnyFarm> = fc
  .record({
    workers: fc.array(fc.tuple(condition, relation), { maxLength: 8 }),
    strategy: fc.constantFrom<Strategy>("least-connections", "weighted", "round-robin"),
    prefix: fc.option(fc.nat(7), { nil: null }),
  })
  .map(({ workers, strategy, prefix }) => {
    const entries = workers.map(([sketch, { listed, aside, open, slots }], i) =>
      worker(`w${i}`, {
        ...sketch,
        models: listed === null || sketch.deny.length > 0 ? [] : [model("m", listed, { slots })],
        aside: aside ? { m: 2_000 } : {},
        open: open === null ? {} : { m: open },
      }),
    );
    const context = farm(entries, strategy);
    for (const [i, [{ weight }, sent]] of workers.entries()) {
      busy(context, `w${i}`, sent.inflight);
      busy(context, `w${i}`, sent.elsewhere, "another");
      for (let turn = 0; turn < sent.turns; turn += 1) context.turns.picked(`w${i}`, "m", weight ?? 1);
    }
    return { context, request: ask("m", { prefixWorker: prefix === null ? null : `w${prefix}` }) };
  });
