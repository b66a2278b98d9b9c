import { describe, expect, it } from "vitest";
import { instancesOf, meanRestMs } from "../../src/scheduling/instances.ts";
import { UNSEEN_RATE } from "../../src/scheduling/pair-rates.ts";
import { pair, RATE } from "./waiting.ts";

const NOW = 1_000;
const freeAt = (more: Parameters<typeof pair>[0]) =>
  instancesOf([pair(more)], 400, NOW).map(({ availableAt }) => availableAt);

describe("the slots of a worker", () => {
  it("are free now where nothing stands in them", () => {
    expect(freeAt({ slots: 2 })).toEqual([NOW, NOW]);
  });

  it("are free when the answers in them are predicted to end", () => {
    const begun = { sentAt: 700, firstByteAt: 900, tokens: 100 };
    const asked = { sentAt: 900, firstByteAt: null, tokens: 300 };
    expect(freeAt({ slots: 3, underWay: [begun, asked] })).toEqual([1_300, 1_600, NOW]);
  });

  it("are not free at once where an answer takes longer than predicted", () => {
    expect(freeAt({ underWay: [{ sentAt: 0, firstByteAt: 100, tokens: 100 }] })).toEqual([NOW + 300]);
    const slow = { ...RATE, restMs: 2_000 };
    expect(freeAt({ rate: slow, underWay: [{ sentAt: -9_000, firstByteAt: -8_000, tokens: 100 }] })).toEqual([
      NOW + 500,
    ]);
    const quick = { ...RATE, restMs: 0 };
    const short = { sentAt: NOW, firstByteAt: null, tokens: 10 };
    expect(freeAt({ rate: quick, underWay: [short] })).toEqual([NOW + 10]);
    expect(freeAt({ rate: quick, underWay: [short, short] })).toEqual([NOW + 300]);
  });

  it("are free later by what stands before them", () => {
    const one = { sentAt: NOW, firstByteAt: null, tokens: 100 };
    expect(freeAt({ slots: 2, underWay: [one, one, one] })).toEqual([2_000, 1_500]);
  });

  it("are one that is always free where nobody knows their number", () => {
    expect(freeAt({ slots: null, underWay: [{ sentAt: NOW, firstByteAt: null, tokens: 1 }] })).toEqual([NOW]);
  });

  it("take what a load has left, and the rest of an answer, besides the prompt", () => {
    expect(instancesOf([pair({ loadMs: 3_000 })], 400, NOW)).toEqual([
      { worker: "a", sure: true, availableAt: NOW, overhead: 3_400, slowness: 1 },
    ]);
  });

  it("take no time for a prompt while their speed is not known, or was long ago", () => {
    for (const rate of [UNSEEN_RATE, { ...RATE, answers: 2 }, { ...RATE, seenAt: NOW - 600_001 }]) {
      expect(instancesOf([pair({ rate })], 400, NOW)).toMatchObject([{ sure: false, overhead: 400, slowness: 0 }]);
    }
  });

  it("have answers of an average length", () => {
    expect(meanRestMs([pair(), pair({ rate: { ...RATE, restMs: 600 } })])).toBe(500);
    expect(meanRestMs([])).toBe(0);
  });
});
