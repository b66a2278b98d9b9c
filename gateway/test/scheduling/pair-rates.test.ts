import { describe, expect, it } from "vitest";
import { isSure, PairRates, UNSEEN_RATE } from "../../src/scheduling/pair-rates.ts";
import { prefillMs } from "../../src/scheduling/predicted-prefill.ts";

const stream = (bytes: number) => ({ bytes, streamed: true, firstByteMs: bytes / 2, lastByteMs: bytes / 2 + 900 });

describe("what the answers of a pair teach", () => {
  it("is the time to the first byte by the length of the prompt, and the rest", () => {
    const rates = new PairRates();
    for (let i = 0; i < 40; i += 1) rates.answered("a", "m", stream(400 * (1 + (i % 7))), i);
    const { prefill, restMs } = rates.of("a", "m");
    expect(prefillMs(prefill, 500)).toBeGreaterThan(900);
    expect(prefillMs(prefill, 500)).toBeLessThan(1_100);
    expect(restMs).toBeCloseTo(900);
    expect(rates.of("b", "m")).toBe(UNSEEN_RATE);
  });

  it("is the whole time where the answer is no stream", () => {
    const rates = new PairRates();
    const before = prefillMs(UNSEEN_RATE.prefill, 100);
    rates.answered("a", "m", { bytes: 400, streamed: false, firstByteMs: 1_000, lastByteMs: 1_000 }, 0);
    expect(rates.of("a", "m").restMs).toBeCloseTo(1_000 - before);
  });

  it("refuses nobody before three answers, nor ten minutes after the last", () => {
    const rates = new PairRates();
    const sure = (now: number) => isSure(rates.of("a", "m"), now);
    for (let i = 0; i < 2; i += 1) rates.answered("a", "m", stream(400), 0);
    expect(sure(0)).toBe(false);
    rates.answered("a", "m", stream(400), 0);
    expect(sure(600_000)).toBe(true);
    expect(sure(600_001)).toBe(false);
  });
});
