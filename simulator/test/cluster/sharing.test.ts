import { describe, expect, test } from "vitest";
import type { ClusterView } from "../../src/cluster/types.ts";
import { activate, appOf, run } from "./small-cluster.ts";

const applications = [appOf("a"), appOf("b")];
const beside = [activate(0, [0]), activate(1, [0])];

describe("two models on a device", () => {
  test("share its compute while both read prompts", () => {
    const asks = [0, 1].map((app) => ({ at: 0, app, output: 1 }));
    const { notes } = run({ applications, asks, start: beside });
    expect(notes.ends.map(({ ttft }) => ttft)).toEqual([220, 220]);
  });

  test("are undisturbed while the other has nothing to do", () => {
    const asks = [0, 1].map((app) => ({ at: 500 * app, app }));
    const { notes } = run({ applications, asks, start: beside });
    for (const { ttft, tpot } of notes.ends) {
      expect(ttft).toBeCloseTo(110, 6);
      expect(tpot).toBeCloseTo(2.2006, 6);
    }
  });

  test("share its bandwidth while both decode", () => {
    const asks = [0, 1].map((app) => ({ at: 0, app }));
    const { notes } = run({ applications, asks, start: beside });
    for (const { tpot } of notes.ends) expect(tpot).toBeCloseTo(2 * 2.2006, 6);
  });

  test("are a little in each other's way when one reads and the other decodes", () => {
    const asks = [
      { at: 0, app: 0, input: 1, output: 5_001 },
      { at: 1_000, app: 1, output: 1 },
    ];
    const { notes } = run({ applications, asks, start: beside });
    expect(notes.ends[0]?.ttft).toBeCloseTo(110 / 0.8, 6);
  });

  test("share its memory, so that one waits for what the other holds", () => {
    const asks = [
      { at: 0, app: 0, input: 6_000, output: 1_001 },
      { at: 10, app: 1, input: 4_000, output: 1 },
    ];
    const { notes } = run({ applications, asks, start: beside });
    expect(notes.ends[1]?.waited).toBeCloseTo((notes.ends[0]?.endedAt ?? 0) - 10, 6);
  });

  test("leave no room for a third, nor for what their weights leave no memory for", () => {
    const start = [...beside, activate(2, [0]), activate(2, [1])];
    const three = [...applications, appOf("c")];
    const { result } = run({ applications: three, asks: [], start });
    expect(result.refusals).toEqual({ "the device is full": 1 });
    const small = run({ applications, asks: [], start: beside, shape: { deviceMemory: 1.9e9 } });
    expect(small.result.refusals).toEqual({ "the weights do not fit beside those that are there": 1 });
  });
});

describe("prefill apart from decode", () => {
  const start = [activate(0, [0], "prefill"), activate(0, [1], "decode")];

  test("hands the state over before it goes on, at the rate of the link", () => {
    const { notes, result } = run({ asks: [{ at: 0 }], start });
    expect(notes.ends[0]?.ttft).toBeCloseTo(110, 9);
    // 1e8 bytes at 1e10 a second.
    expect(notes.ends[0]?.endedAt).toBeCloseTo(110 + 10 + 22.006, 6);
    expect(result.counts).toMatchObject({ handovers: 1, handoverBytes: 1e8 });
  });

  test("does not disturb what is decoded", () => {
    const asks = [0, 500].map((at) => ({ at, input: 1_000, output: 1_001 }));
    const { notes } = run({ asks, start });
    expect(notes.ends.map(({ ttft }) => ttft)).toEqual([110, 110]);
  });

  test("goes on at an instance that does both when none decodes alone", () => {
    const { notes } = run({ asks: [{ at: 0 }, { at: 0 }], start: [activate(0, [0], "prefill"), activate(0, [1])] });
    expect(notes.ends.map(({ outcome }) => outcome)).toEqual(["done", "done"]);
  });

  test("times out what no instance goes on with", () => {
    const { notes } = run({ asks: [{ at: 0 }], start: start.slice(0, 1) });
    expect(notes.ends).toMatchObject([{ outcome: "timed-out" }]);
  });
});

test("a policy sees the load, the shares of time and what ended on time", () => {
  const seen: unknown[] = [];
  const asks = Array.from({ length: 40 }, (_, n) => ({ at: 250 * n, output: 1 }));
  const look = (view: ClusterView) => {
    const { memory, compute } = view.used(0);
    seen.push(view.load(0, 4_000), view.onTime(0, 4_000), view.onTime(1, 4_000), memory, Math.round(compute * 100));
    return [];
  };
  run({
    applications,
    asks,
    start: [activate(0, [0])],
    later: [{ at: 9_700, act: look }],
    parameters: { measureMs: 2_000 },
  });
  const [load, onTime, never, memory, compute] = seen;
  expect(load).toMatchObject({ inputMean: 1_000, inputVariance: 0, outputMean: 1, outputVariance: 0 });
  expect((load as { requestsPerSecond: number }).requestsPerSecond).toBeCloseTo(4, 0);
  expect([onTime, never, memory]).toEqual([1, null, 1e9]);
  // 110 of every 250 ms.
  expect(compute).toBeGreaterThan(38);
  expect(compute).toBeLessThan(48);
});
