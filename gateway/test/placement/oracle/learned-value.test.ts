import { seededRandom } from "@farmgate/shared";
import { describe, expect, it } from "vitest";
import { LearnedValue } from "../../../src/placement/oracle/learned-value.ts";

const prior = () => ({ mean: 10, deviation: 2 });

function valueOf(more: object = {}): LearnedValue {
  return new LearnedValue(1, prior, { random: seededRandom(1), ...more });
}

/** A line with a little noise, met in no order. */
function teach(value: LearnedValue, count: number, line = (x: number) => 10 + x): void {
  for (let at = 0; at < count; at += 1) {
    const x = (at * 7) % 10;
    value.observe([x + (at % 3) / 10], line(x + (at % 3) / 10) + (at % 2 ? 0.05 : -0.05));
  }
}

describe("a value that is learned", () => {
  it("is its prior at first, and what was measured soon after", () => {
    const value = valueOf();
    expect(value.predict([3]).mean).toBe(10);
    expect(Math.sqrt(value.predict([3]).variance)).toBeCloseTo(2, 1);
    teach(value, 30);
    expect(value.predict([3.5]).mean).toBeCloseTo(13.5, 0);
    expect(value.predict([3.5]).variance).toBeLessThan(0.1);
  });

  it("is the mean of what was measured in one place", () => {
    const value = valueOf();
    for (const y of [11, 12, 13, 12]) value.observe([5], y);
    expect(value.size).toBe(1);
    expect(value.notes.points[0]).toMatchObject({ input: [5], weight: 4 });
    expect(value.notes.points[0]?.output).toBeCloseTo(12, 9);
    expect(value.predict([5]).mean).toBeCloseTo(12, 1);
  });

  it("learns how much it scatters where it is measured in one place only", () => {
    const value = valueOf();
    for (let at = 0; at < 60; at += 1) value.observe([5], 12 + (at % 2 ? 2 : -2));
    expect(value.fitness).toBe("fits");
    expect(Math.sqrt(value.predict([5]).variance)).toBeGreaterThan(1.5);
  });

  it("is moved by no outlier", () => {
    const value = valueOf();
    teach(value, 60);
    const before = value.predict([5.05]);
    for (const y of [1e6, -1e300, 1e12]) value.observe([5.07], y);
    const after = value.predict([5.05]);
    expect(Math.abs(after.mean - before.mean)).toBeLessThan(0.5);
    expect(value.fitness).toBe("fits");
  });

  it("leaves its fits to who wants to run them, one at a time, and learns meanwhile", () => {
    const due: (() => void)[] = [];
    const value = valueOf({ fitLater: (fit: () => void) => due.push(fit) });
    const { kernel } = value.notes;
    teach(value, 60);
    expect([due.length, value.notes.kernel]).toEqual([1, kernel]);
    expect(value.predict([3.5]).mean).toBeCloseTo(13.5, 0);
    due.pop()?.();
    expect(value.notes.kernel).not.toEqual(kernel);
    teach(value, 60);
    expect(due).toHaveLength(1);
  });

  it("keeps no more points than it may, and those that are apart", () => {
    const value = valueOf({ maxPoints: 12 });
    value.observe([-300], 11);
    value.observe([300], 11);
    for (let at = 0; at < 60; at += 1) value.observe([40 + ((at * 17) % 60)], 11);
    const inputs = value.notes.points.map(({ input }) => input[0] ?? Number.NaN).sort((a, b) => a - b);
    expect(inputs.length).toBeLessThanOrEqual(12);
    expect(inputs[0]).toBe(-300);
    expect(inputs.at(-1)).toBe(300);
  });

  it("is relearned when what it measures has changed, and is wider meanwhile", () => {
    const value = valueOf();
    teach(value, 120);
    const seen: string[] = [];
    let widest = 0;
    for (let at = 0; at < 60; at += 1) {
      value.observe([(at * 7) % 10], 25 - ((at * 7) % 10) + (at % 2 ? 0.05 : -0.05));
      if (seen.at(-1) !== value.fitness) seen.push(value.fitness);
      if (value.fitness !== "fits") widest = Math.max(widest, value.predict([5]).variance);
    }
    expect(seen).toEqual(["fits", "drifting", "fits"]);
    expect(widest).toBeGreaterThan(2 * value.predict([5]).variance);
    expect(value.predict([5]).mean).toBeCloseTo(20, 0);
  });

  it("is relearned in the one place where it is measured again and again", () => {
    const value = valueOf();
    for (let at = 0; at < 60; at += 1) value.observe([at % 10], 10 + (at % 2 ? 0.1 : -0.1));
    for (let at = 0; at < 40; at += 1) value.observe([5], 16 + (at % 2 ? 0.1 : -0.1));
    expect(value.fitness).toBe("fits");
    expect(value.predict([5]).mean).toBeCloseTo(16, 0);
  });

  it("is plainly wrong when nothing holds for long", () => {
    const value = valueOf();
    teach(value, 60);
    const seen = new Set<string>();
    for (let at = 0; at < 90; at += 1) {
      value.observe([at % 10], 10 + 40 * 3 ** Math.floor(at / 8));
      seen.add(value.fitness);
    }
    expect(seen).toContain("wrong");
  });

  it("starts empty when its notes give no matrix that can be used", () => {
    const { kernel, measures } = valueOf().notes;
    const same = { input: [1], output: 3, weight: 1e300, scatter: 0 };
    const notes = {
      kernel: { ...kernel, noise: 1e-9 },
      measures,
      points: [same, same],
      drift: { fitness: "fits", residuals: [], calibration: 1 },
    } as const;
    const value = new LearnedValue(1, prior, { random: seededRandom(1) }, notes);
    expect(value.size).toBe(0);
    expect(value.predict([1]).mean).toBe(10);
  });
});
