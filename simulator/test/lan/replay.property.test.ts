import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { replay } from "../../src/lan/replay.ts";
import { farmOf, SETTINGS, traceOf } from "./farms.ts";

const MODELS = ["a", "b", "c", "ghost"];
const figures = fc.record({
  load: fc.constantFrom("0s", "2s", "30s"),
  slots: fc.integer({ min: 1, max: 3 }),
  tokensPerSecond: fc.constantFrom(0, 20),
});
const box = fc.record({
  models: fc.dictionary(fc.constantFrom("a", "b", "c"), figures, { minKeys: 1 }),
  queue: fc.record({
    policy: fc.constantFrom("greedy", "fifo", "collate"),
    maxDepth: fc.constantFrom(2, 1_000),
    maxWait: fc.constantFrom("1s", "60s"),
  }),
});
const ask = fc.record({
  at: fc.integer({ min: 0, max: 60_000 }),
  model: fc.constantFrom(...MODELS),
  output: fc.integer({ min: 0, max: 400 }),
  deadline: fc.constantFrom(0, 0, 3_000),
});
const gateway = fc.record({
  routing: fc.record({
    strategy: fc.constantFrom("least-connections", "round-robin", "weighted"),
    waitOrSwap: fc.boolean(),
  }),
  models: fc.record({ keepWarm: fc.constantFrom({}, { a: 1, b: 2 }) }),
});

describe("a replay of any trace on any farm", () => {
  it("ends each request once, and the same again", () => {
    fc.assert(
      fc.property(
        fc.array(box, { minLength: 1, maxLength: 3 }),
        fc.array(ask, { maxLength: 40 }),
        gateway,
        fc.boolean(),
        (boxes, asks, config, ignoresResidency) => {
          const named = boxes.map((one, i) => ({ ...one, name: `box-${i}` }));
          const farm = { ...farmOf(named, config), ignoresResidency };
          const trace = traceOf(asks);
          const settings = { ...SETTINGS, callerTimeoutMs: 90_000 };
          const first = replay(farm, trace, settings);
          expect([...first.ledger.ends]).toEqual(asks.map(() => 1));
          for (const [i, at] of trace.at.entries()) {
            expect(first.ledger.endedAt[i]).toBeGreaterThanOrEqual(at);
            expect((first.ledger.endedAt[i] ?? 0) - at).toBeLessThanOrEqual(settings.callerTimeoutMs);
          }
          expect(replay(farm, trace, settings)).toEqual(first);
        },
      ),
      { numRuns: 15 },
    );
  });
});
