import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ClusterAction, DispatchOrder, Role } from "../../src/cluster/types.ts";
import { appOf, MODEL, run, type Setting } from "./small-cluster.ts";

const applications = [
  appOf("a"),
  appOf("b", { model: { ...MODEL, tensorParallel: 2, weightBytes: 3e9 } }),
  appOf("c", { ttftMs: 200, model: { ...MODEL, dataParallel: 2 } }),
];

const device = fc.oneof(
  { weight: 12, arbitrary: fc.nat(3) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 4, 0.5, Number.NaN) },
);
const devices = fc.oneof(
  fc.constantFrom([0], [1], [2], [3], [0, 1], [2, 3], [1, 2]),
  fc.array(device, { maxLength: 3 }),
);
const action: fc.Arbitrary<ClusterAction> = fc.oneof(
  fc.record({
    kind: fc.constant("activate" as const),
    app: fc.constantFrom(0, 0, 0, 1, 2, 3, -1),
    role: fc.constantFrom<Role>("both", "both", "prefill", "decode"),
    devices,
    live: fc.boolean(),
    reason: fc.constant(""),
  }),
  fc.record({
    kind: fc.constant("release" as const),
    instance: fc.integer({ min: -1, max: 12 }),
    reason: fc.constant(""),
  }),
  fc.record({ kind: fc.constant("move" as const), instance: fc.nat(12), to: devices, reason: fc.constant("") }),
);
const setting: fc.Arbitrary<Setting> = fc
  .record({
    gaps: fc.array(
      fc.record({ gap: fc.nat(300), app: fc.nat(2), input: fc.integer({ min: 0, max: 25_000 }), output: fc.nat(300) }),
      { maxLength: 40 },
    ),
    start: fc.array(action, { maxLength: 5 }),
    plans: fc.array(fc.array(action, { maxLength: 4 }), { maxLength: 12 }),
    everyMs: fc.integer({ min: 1, max: 2_000 }),
    cold: fc.array(action, { maxLength: 2 }),
    dispatch: fc.constantFrom<DispatchOrder>("first-come", "least-slack", "lst-imh"),
    hostMemory: fc.constantFrom(0, 2e9, 9e9),
  })
  .map(({ gaps, start, plans, everyMs, cold, dispatch, hostMemory }) => {
    let at = 0;
    const asks = gaps.map(({ gap, ...ask }) => {
      at += gap;
      return { at, ...ask };
    });
    const loops = () => {
      let turn = 0;
      return [{ everyMs, run: () => plans[turn++] ?? [] }];
    };
    return {
      applications,
      asks,
      start,
      get loops() {
        return loops();
      },
      onCold: () => cold,
      dispatch,
      shape: { hostMemory, diskRate: 2e9 },
      parameters: { mapUs: 37, timeOutMs: 4_000 },
    };
  });

describe("whatever a policy asks for", () => {
  test("each request ends once, and nothing is left behind", () => {
    fc.assert(
      fc.property(setting, (given) => {
        // The books are checked by the run itself: it throws when they do not balance.
        const { notes } = run(given);
        expect(notes.ends).toHaveLength(given.asks.length);
        for (const { ttft, endedAt, at, waited } of notes.ends) {
          expect(endedAt).toBeGreaterThanOrEqual(at);
          expect(waited).toBeGreaterThanOrEqual(0);
          expect(ttft).toBeGreaterThanOrEqual(waited);
        }
        for (const [, used] of notes.used) expect(used >= 0 && used <= 4).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  test("the same run ends the same, to the byte", () => {
    fc.assert(
      fc.property(setting, (given) => {
        expect(JSON.stringify(run(given))).toBe(JSON.stringify(run(given)));
      }),
      { numRuns: 25 },
    );
  });
});
