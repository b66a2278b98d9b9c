import { seededRandom } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { GaussianProcess, type Point } from "../../../src/placement/oracle/gaussian-process.ts";
import { firstKernel } from "../../../src/placement/oracle/kernel.ts";

const number = fc.double({ min: -3, max: 3, noNaN: true });
const point: fc.Arbitrary<Point> = fc.record({
  input: fc.array(number, { minLength: 2, maxLength: 2 }),
  output: number,
  weight: fc.double({ min: 0.1, max: 10, noNaN: true }),
  scatter: fc.constant(0),
});
const points = fc.array(point, { minLength: 1, maxLength: 12 });
const place = fc.array(fc.double({ min: -9, max: 9, noNaN: true }), { minLength: 2, maxLength: 2 });
const quiet = { ...firstKernel(2), noise: 1e-6 };

function learned(all: readonly Point[], kernel = firstKernel(2)): GaussianProcess {
  const process = new GaussianProcess(2, kernel);
  process.reset(all);
  return process;
}

describe("a Gaussian process", () => {
  it("says after each point what it would say after all at once", () => {
    fc.assert(
      fc.property(points, point, place, (all, more, at) => {
        const process = learned(all);
        process.add(more);
        const again = new GaussianProcess(2);
        again.reset([...all, more], process.kernel, process.measures);
        expect(process.predict(at).mean).toBeCloseTo(again.predict(at).mean, 6);
        expect(process.predict(at).variance).toBeCloseTo(again.predict(at).variance, 6);
      }),
    );
  });

  it("has a variance above zero, which no further point makes larger", () => {
    fc.assert(
      fc.property(points, point, place, (all, more, at) => {
        const process = learned(all);
        const before = process.predict(at).variance;
        expect(before).toBeGreaterThan(0);
        process.add(more);
        expect(process.predict(at).variance).toBeLessThanOrEqual(before + 1e-9);
      }),
    );
  });

  it("goes through its points where there is hardly any noise", () => {
    const all = [-1, 0, 1, 2].map((x) => ({ input: [x, x * x], output: Math.sin(x), weight: 1, scatter: 0 }));
    const process = learned(all, quiet);
    for (const { input, output } of all) {
      const { mean, variance } = process.predict(input);
      expect(mean).toBeCloseTo(output, 3);
      expect(variance).toBeLessThan(1e-4);
    }
  });

  it("is nearly as wide as the prior far from all points, and has the mean of the nearest place in its range", () => {
    const all = [0, 1, 2].map((x) => ({ input: [x, 0], output: x, weight: 1, scatter: 0 }));
    const process = learned(all, quiet);
    const far = process.predict([1000, 0]);
    expect(far.mean).toBeCloseTo(process.predict([2, 0]).mean, 9);
    // The common part is known better from the points.
    expect(far.variance).toBeGreaterThan(0.5);
    expect(far.variance).toBeLessThan(1.1);
  });

  it("says the same of many places as of each", () => {
    fc.assert(
      fc.property(points, fc.array(place, { minLength: 2, maxLength: 9 }), (all, places) => {
        const process = learned(all);
        for (const [index, both] of process.predictAll(places).entries()) {
          const one = process.predict(places[index]);
          expect(both.mean).toBeCloseTo(one.mean, 8);
          expect(both.variance).toBeCloseTo(one.variance, 8);
        }
      }),
    );
  });

  it("finds by its fit which input matters, and how much noise there is", () => {
    const random = seededRandom(7);
    const process = new GaussianProcess(2);
    process.reset(
      Array.from({ length: 40 }, () => {
        const input = [random() * 4, random() * 4] as const;
        return { input, output: Math.sin(2 * input[0]) + 0.1 * (random() - 0.5), weight: 1, scatter: 0 };
      }),
    );
    process.fit({ random, starts: 2, steps: 30, points: 100 });
    const [first = 0, second = 0] = process.kernel.lengths;
    expect(second).toBeGreaterThan(4 * first);
    expect(process.kernel.noise).toBeLessThan(0.01);
    expect(process.predict([2, 1]).mean).toBeCloseTo(Math.sin(4), 1);
  });

  it("is fitted alike from the same chance", () => {
    const fitted = () => {
      const process = learned([0, 1, 2, 3, 5].map((x) => ({ input: [x, 1], output: x % 2, weight: 1, scatter: 0 })));
      process.fit({ random: seededRandom(3), starts: 3, steps: 20, points: 100 });
      return process.kernel;
    };
    expect(fitted()).toEqual(fitted());
  });

  it("knows nothing but the prior without points", () => {
    const process = new GaussianProcess(2);
    expect(process.predict([1, 2])).toEqual({ mean: 0, variance: 1.02 });
    process.add({ input: [0, 0], output: 1, weight: 1, scatter: 0 });
    process.remove(0);
    expect(process.predict([1, 2])).toEqual({ mean: 0, variance: 1.02 });
  });
});
