import { describe, expect, test } from "vitest";
import { activate, appOf, MODEL, run } from "./small-cluster.ts";

const start = [activate(0, [0])];

describe("one instance", () => {
  test("serves one request in the times of the formulas", () => {
    const { notes } = run({ asks: [{ at: 5 }], start });
    const [only] = notes.ends;
    // 1,001 tokens after the first one, 5 more in the middle of the ten steps.
    const step = 1 + 0.1006 + 0.1 + 1;
    expect(only?.ttft).toBeCloseTo(110, 9);
    expect(only?.tpot).toBeCloseTo(step, 9);
    expect(only?.endedAt).toBeCloseTo(115 + 10 * step, 9);
    expect(only?.waited).toBe(0);
  });

  test("ends a request of one token with its prompt", () => {
    const { notes } = run({ asks: [{ at: 0, output: 1 }], start });
    expect(notes.ends).toMatchObject([{ ttft: 110, endedAt: 110, outcome: "done" }]);
  });

  test("reads one prompt after the other", () => {
    const { notes } = run({ asks: [0, 0, 0].map((at) => ({ at, output: 1 })), start });
    expect(notes.ends.map(({ ttft }) => ttft)).toEqual([110, 220, 330]);
    expect(notes.ends.map(({ waited }) => waited)).toEqual([0, 110, 220]);
  });

  test("makes a token of each request of its batch in a step that is longer by the formula", () => {
    const parameters = { prefillShareBesideDecode: 1, decodeShareBesidePrefill: 1 };
    const asks = [
      { at: 0, input: 1, output: 100_001 },
      ...[1, 2, 3].map((n) => ({ at: 20 * n, input: 1, output: 101 })),
    ];
    const { notes } = run({ asks, start, parameters, shape: { deviceMemory: 3e12 } });
    // All four are there from 70.1 ms on, with hardly any context: 1 + 4 x 0.1 + 1.
    expect(notes.ends[2]?.tpot).toBeGreaterThan(2.39);
    expect(notes.ends[0]?.tpot).toBeCloseTo(2.35, 1);
    expect(notes.ends).toHaveLength(4);
  });

  test("reads a prompt and decodes at the stated shares while it does both", () => {
    const { notes } = run({
      asks: [
        { at: 0, input: 1, output: 10_001 },
        { at: 1_000, output: 1 },
      ],
      start,
    });
    // 110 ms of reading at half the pace.
    expect(notes.ends[0]?.ttft).toBeCloseTo(220, 6);
    const alone = run({ asks: [{ at: 0, input: 1, output: 10_001 }], start }).notes.ends[0];
    // For 220 ms it decoded at half its pace.
    expect((notes.ends[1]?.endedAt ?? 0) - (alone?.endedAt ?? 0)).toBeCloseTo(110, 6);
  });

  test("takes no request beyond its largest batch", () => {
    const asks = [0, 1, 2].map((at) => ({ at, input: 1, output: 1_001 }));
    const { notes } = run({ asks, start, parameters: { maxBatch: 2 } });
    expect(notes.ends[2]?.waited).toBeGreaterThan(1_000);
  });

  test("lets requests wait that its memory cannot hold beside those that are there", () => {
    // 2,000 pages are free; each takes 10 tokens a page.
    const asks = [0, 1].map((at) => ({ at, input: 11_000, output: 1_001 }));
    const { notes } = run({ asks, start });
    expect(notes.ends[1]?.waited).toBeCloseTo((notes.ends[0]?.endedAt ?? 0) - 1, 6);
  });

  test("counts what the last pages of requests leave empty", () => {
    const { result } = run({
      asks: [
        { at: 0, input: 11, output: 2 },
        { at: 1, input: 10, output: 10 },
      ],
      start,
    });
    // 13 tokens in two pages of 10.
    expect(result.counts.emptyTailBytes).toBe(7e5);
  });

  test("refuses what not even an empty instance could hold", () => {
    const { notes } = run({
      asks: [
        { at: 0, input: 20_000, output: 1 },
        { at: 1, input: 19_999, output: 1 },
      ],
      start,
    });
    expect(notes.ends.map(({ outcome }) => outcome)).toEqual(["refused", "done"]);
  });

  test("reads only what follows a prefix that came before", () => {
    const { notes } = run({ asks: [{ at: 0, output: 1 }], start, prefix: [900] });
    expect(notes.ends[0]?.ttft).toBeCloseTo(20, 9);
  });

  test("waits for pages that are not mapped ahead", () => {
    const parameters = { mapUs: 1_000 };
    const asks = [
      { at: 0, input: 1_000, output: 1 },
      { at: 200, input: 1_000, output: 1 },
    ];
    const shape = { deviceMemory: 1.1e9 + 1e6 };
    const { notes, result } = run({ asks, start: [activate(0, [0])], parameters, shape });
    // All 101 pages were mapped ahead at the start, and 90 of them again in the 90 ms since the first request left.
    expect(notes.ends.map(({ ttft }) => ttft)).toEqual([110, 121]);
    expect(result.counts.mapWaitMs).toBe(11);
    const hurried = run({ asks: asks.map((ask, n) => ({ ...ask, at: n * 120 })), start, parameters, shape });
    expect(hurried.notes.ends[1]?.ttft).toBeCloseTo(201, 9);
  });

  test("splits a model over the devices that it spans", () => {
    const applications = [appOf("wide", { model: { ...MODEL, tensorParallel: 2 } })];
    const { notes } = run({ asks: [{ at: 0 }], applications, start: [activate(0, [0, 1])] });
    expect(notes.ends[0]?.ttft).toBeCloseTo(60, 9);
    expect(notes.ends[0]?.tpot).toBeCloseTo(0.5 + 0.0503 + 0.05 + 1, 9);
    expect(notes.used.at(-1)?.[1]).toBe(2);
  });

  test("serves with all its replicas at the same time", () => {
    const applications = [appOf("twice", { model: { ...MODEL, dataParallel: 2 } })];
    const asks = [0, 0].map((at) => ({ at, output: 1 }));
    const { notes } = run({ asks, applications, start: [activate(0, [1, 2])] });
    expect(notes.ends.map(({ ttft }) => ttft)).toEqual([110, 110]);
  });

  test("times out who waits for long, and a caller without any instance", () => {
    const { notes } = run({ asks: [{ at: 100 }], applications: [appOf("nowhere")] });
    expect(notes.ends).toMatchObject([{ outcome: "timed-out" }]);
    expect(notes.ends[0]?.endedAt).toBeGreaterThan(30_100);
    expect(notes.ends[0]?.endedAt).toBeLessThanOrEqual(30_600);
  });
});
