import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Line,
  predictSwap,
  predictWait,
  type SwapFigures,
  type WaitFigures,
  weigh,
} from "../../src/routing/wait-or-swap.ts";

const line = (places: number, ahead: number, serviceMs: number | null = 10_000): Line => ({ places, ahead, serviceMs });
const wait = (more: Partial<WaitFigures>): WaitFigures => ({
  forecastMs: null,
  sentSince: 0,
  slots: line(1, 1),
  cap: null,
  ...more,
});
const swap = (more: Partial<SwapFigures>): SwapFigures => ({
  forecastMs: null,
  sentSince: 0,
  slots: line(1, 0),
  loadMs: 20_000,
  othersMs: 0,
  ...more,
});

describe("the predicted wait", () => {
  it.each<[string, Partial<WaitFigures>, number | null]>([
    ["none while a slot is free", { slots: line(4, 3) }, 0],
    ["one service time behind one in one slot", { slots: line(1, 1) }, 10_000],
    ["a share of it where several slots get free", { slots: line(4, 4) }, 2_500],
    ["all that stand before it", { slots: line(2, 7) }, 30_000],
    ["not known without a service time", { slots: line(1, 1, null) }, null],
    ["none while a slot is free, whatever a service takes", { slots: line(1, 0, null) }, 0],
    ["not known where slots are not", { slots: null }, null],
    ["the worker's own forecast", { forecastMs: 7_000 }, 7_000],
    ["that forecast though no service time is known", { forecastMs: 7_000, slots: line(1, 1, null) }, 7_000],
    ["the forecast and what was sent since", { forecastMs: 7_000, sentSince: 2, slots: line(4, 9) }, 12_000],
    ["not known where that cannot be priced", { forecastMs: 7_000, sentSince: 2, slots: line(4, 9, null) }, null],
    ["the forecast without what ended since", { forecastMs: 7_000, sentSince: -1, slots: line(2, 2) }, 2_000],
    ["never less than nothing", { forecastMs: 7_000, sentSince: -3, slots: line(1, 1) }, 0],
    ["counted where a free slot was forecast and is taken now", { forecastMs: 0, slots: line(2, 2) }, 5_000],
    ["until the worker is below its cap", { slots: line(4, 2), cap: line(2, 2, 8_000) }, 4_000],
    ["the longer one of slots and cap", { slots: line(1, 2), cap: line(2, 2, 8_000) }, 20_000],
    ["that of the cap where slots are not known", { slots: null, cap: line(2, 3, 8_000) }, 8_000],
    ["not known where the cap's is not", { slots: line(1, 2), cap: line(2, 2, null) }, null],
  ])("is %s", (_, figures, expected) => {
    expect(predictWait(wait(figures))).toBe(expected);
  });
});

describe("the predicted time to a loaded model", () => {
  it.each<[string, Partial<SwapFigures>, number | null]>([
    ["the load", {}, 20_000],
    ["not known without a load time", { loadMs: null, forecastMs: 5_000 }, null],
    ["the load after what runs there for others", { othersMs: 6_000 }, 26_000],
    ["not known where that is not", { othersMs: null }, null],
    ["the worker's forecast, which holds the load", { forecastMs: 31_000 }, 31_000],
    ["never less than the load", { forecastMs: 0 }, 20_000],
    ["the forecast and what came after it", { forecastMs: 31_000, sentSince: 1, othersMs: 2_000 }, 43_000],
    ["the whole forecast though requests ended since", { forecastMs: 31_000, sentSince: -2 }, 31_000],
    ["the load and the requests that wait for it already", { slots: line(1, 2) }, 40_000],
    ["not known where those cannot be priced", { slots: line(1, 2, null) }, null],
  ])("is %s", (_, figures, expected) => {
    expect(predictSwap(swap(figures))).toBe(expected);
  });
});

const at = (ms: number | null, turn = 0) => ({ ms, turn });

describe("the choice between them", () => {
  it.each<[string, (number | null)[], (number | null)[], "wait" | "swap" | null]>([
    ["a load that is much cheaper", [40_000], [25_000], "swap"],
    ["a wait that is cheaper", [25_000], [40_000], "wait"],
    ["a load that is cheaper by less than a fifth", [40_000], [33_000], "wait"],
    ["a load that is cheaper by a fifth", [40_000], [32_000], "swap"],
    ["a load that is cheaper by less than a second", [1_200], [300], "wait"],
    ["the shortest wait", [90_000, 20_000], [25_000], "wait"],
    ["the shortest load", [40_000], [60_000, null, 10_000], "swap"],
    ["nothing where one wait is not known", [40_000, null], [1], null],
    ["nothing where no load is known", [40_000], [null], null],
    ["nothing without anybody to load", [40_000], [], null],
  ])("is %s", (_, leading, others, decision) => {
    const verdict = weigh(
      leading.map((ms) => at(ms)),
      others.map((ms) => at(ms)),
    );
    expect(verdict?.decision ?? null).toBe(decision);
  });

  it("takes turns among equals", () => {
    const verdict = weigh([at(9_000, 2), at(9_000, 1)], [at(1_000, 5), at(1_000, 3), at(1_000, 4)]);
    expect([verdict?.wait.turn, verdict?.swap.turn]).toEqual([1, 3]);
  });
});

describe("whatever the figures", () => {
  const ms = fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }), { nil: null });
  const places = fc.array(fc.record({ ms, turn: fc.nat(3) }), { maxLength: 5 });
  const anyLine = fc.record({ places: fc.integer({ min: 1, max: 8 }), ahead: fc.nat(40), serviceMs: ms });
  const anyWait = fc.record({
    forecastMs: ms,
    sentSince: fc.integer({ min: -9, max: 9 }),
    slots: fc.option(anyLine, { nil: null }),
    cap: fc.option(anyLine, { nil: null }),
  });

  it("a load wins by the margin or not at all, and over known waits alone", () => {
    fc.assert(
      fc.property(places, places, (leading, others) => {
        const verdict = weigh(leading, others);
        if (verdict?.decision !== "swap") return;
        const shortest = Math.min(...leading.map((one) => one.ms ?? Number.NaN));
        expect(verdict.wait.ms).toBe(shortest);
        expect(shortest - verdict.swap.ms).toBeGreaterThanOrEqual(Math.max(1_000, 0.2 * shortest));
      }),
    );
  });

  it("more waiting never turns a swap into a wait", () => {
    fc.assert(
      fc.property(places, places, fc.array(fc.double({ min: 0, max: 1e6, noNaN: true })), (leading, others, more) => {
        if (weigh(leading, others)?.decision !== "swap") return;
        const longer = leading.map((one, i) => ({ ...one, ms: (one.ms ?? 0) + (more[i] ?? 0) }));
        expect(weigh(longer, others)?.decision).toBe("swap");
      }),
    );
  });

  it("one more request before it never makes a wait shorter", () => {
    fc.assert(
      fc.property(anyWait, (figures) => {
        const before = predictWait(figures);
        const slots = figures.slots && { ...figures.slots, ahead: figures.slots.ahead + 1 };
        const after = predictWait({ ...figures, sentSince: figures.sentSince + 1, slots });
        fc.pre(before !== null && after !== null);
        expect(after).toBeGreaterThanOrEqual(before ?? 0);
      }),
    );
  });
});
