import { describe, expect, it } from "vitest";
import { FirstBytes } from "../../src/routing/first-bytes.ts";

const CHAT = { worker: "a", key: "m", api: "chat", streamed: true };

function learned(times: readonly number[], kind = CHAT): FirstBytes {
  const firstBytes = new FirstBytes();
  times.forEach((ms, i) => firstBytes.answered(kind, ms, i));
  return firstBytes;
}

const same = (ms: number) => Array.from({ length: 8 }, () => ms);

describe("the time in which a first byte has come, if all is well", () => {
  it("is not known before eight answers", () => {
    expect(learned(same(100).slice(1)).enoughMs(CHAT, 0)).toBeNull();
    expect(learned(same(100)).enoughMs(CHAT, 0)).not.toBeNull();
  });

  it("is ten seconds and more for a stream, two minutes and more for a whole answer, and grows with the prompt", () => {
    const whole = { ...CHAT, streamed: false };
    expect(learned(same(1)).enoughMs(CHAT, 0)).toBeCloseTo(10_000, -2);
    expect(learned(same(1), whole).enoughMs(whole, 0)).toBeCloseTo(120_000, -2);
    const firstBytes = learned(same(1));
    // 200 KB are some fifty thousand tokens: more than eight minutes on a machine that reads a hundred a second.
    expect((firstBytes.enoughMs(CHAT, 200_000) ?? 0) - (firstBytes.enoughMs(CHAT, 0) ?? 0)).toBe(500_000);
  });

  it("is longer where the pair takes long, and longer still where it varies", () => {
    const steady = learned(Array.from({ length: 40 }, () => 5_000)).enoughMs(CHAT, 0) ?? 0;
    const varies = learned(Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? 1_000 : 9_000))).enoughMs(CHAT, 0) ?? 0;
    expect(steady).toBeGreaterThan(10_000 + 4 * 5_000 - 100);
    expect(varies).toBeGreaterThan(steady + 4 * 4 * 3_000);
  });

  it("is its own for each worker, model, API and kind of answer", () => {
    const firstBytes = learned(same(100));
    for (const other of [{ worker: "b" }, { key: "n" }, { api: "completions" }, { streamed: false }]) {
      expect(firstBytes.enoughMs({ ...CHAT, ...other }, 0)).toBeNull();
    }
  });

  it("learns nothing from answers that had to wait for a load, but notes when they came", () => {
    const firstBytes = new FirstBytes();
    for (let i = 0; i < 20; i += 1) firstBytes.answered(CHAT, null, 500 + i);
    firstBytes.answered(CHAT, null, 400);
    expect(firstBytes.enoughMs(CHAT, 0)).toBeNull();
    expect([firstBytes.answeredAt("a", "m"), firstBytes.answeredAt("a", "n")]).toEqual([519, null]);
  });
});
