import { seededRandom } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { learnPrefill, type PrefillModel, prefillMs, UNSEEN_PREFILL } from "../../src/scheduling/predicted-prefill.ts";
import { tokensOf } from "../../src/tokens-of-bytes.ts";

function learned(answers: readonly (readonly [tokens: number, ms: number])[]): PrefillModel {
  return answers.reduce((model, [tokens, ms]) => learnPrefill(model, tokens, ms), UNSEEN_PREFILL);
}

/** A pair with 200 ms and 2 ms a token, a tenth of noise. */
function answers(count: number): [number, number][] {
  const random = seededRandom(4);
  return Array.from({ length: count }, () => {
    const tokens = Math.round(50 + 4_000 * random());
    return [tokens, (200 + 2 * tokens) * (0.9 + 0.2 * random())];
  });
}

describe("the predicted time of a prompt", () => {
  it("is that of a middling GPU before anything was seen", () => {
    expect(prefillMs(UNSEEN_PREFILL, 0)).toBeCloseTo(50);
    expect(prefillMs(UNSEEN_PREFILL, 1_024)).toBeCloseTo(550);
  });

  it("is within a sixth of the truth after forty answers", () => {
    const model = learned(answers(40));
    for (const tokens of [200, 1_000, 4_000]) {
      expect(prefillMs(model, tokens) / (200 + 2 * tokens)).toBeGreaterThan(5 / 6);
      expect(prefillMs(model, tokens) / (200 + 2 * tokens)).toBeLessThan(7 / 6);
    }
  });

  it("follows when the machine gets slower", () => {
    const slower = answers(120).map(([tokens, ms]) => [tokens, 3 * ms] as const);
    const model = learned([...answers(100), ...slower]);
    expect(prefillMs(model, 1_000)).toBeGreaterThan(5_500);
    expect(prefillMs(model, 1_000)).toBeLessThan(7_500);
  });

  it("is not thrown by one answer that hung for a minute", () => {
    const before = learned(answers(60));
    const after = learnPrefill(before, 100, 60_000);
    expect(prefillMs(after, 1_000) / prefillMs(before, 1_000)).toBeLessThan(1.1);
  });

  it("never falls with the length, nor below nothing", () => {
    for (const odd of [
      [
        [100, 900],
        [4_000, 10],
        [4_000, 10],
        [4_000, 10],
      ],
      [
        [0, 0],
        [0, 0],
        [0, 0],
      ],
      Array.from({ length: 30 }, () => [512, 512]),
    ] as [number, number][][]) {
      const model = learned(odd);
      expect(model.msPerToken).toBeGreaterThanOrEqual(0);
      expect(model.overheadMs).toBeGreaterThanOrEqual(0);
    }
    expect(prefillMs(learned(Array.from({ length: 300 }, () => [512, 700])), 512)).toBeCloseTo(700, -1);
  });

  it("learns nothing from what is no time", () => {
    expect(learnPrefill(UNSEEN_PREFILL, 10, Number.NaN)).toBe(UNSEEN_PREFILL);
    expect(learnPrefill(UNSEEN_PREFILL, Number.NaN, 10)).toBe(UNSEEN_PREFILL);
  });

  it("takes four bytes for a token where nobody counted", () => {
    expect(tokensOf(4_000)).toBe(1_000);
    expect(tokensOf(4_000, 2)).toBe(2_000);
  });
});
