import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { firstKernel, kernelBounds, logsOf } from "../../../src/placement/oracle/kernel.ts";
import { likelihood, type Points } from "../../../src/placement/oracle/likelihood.ts";
import { climb } from "../../../src/placement/oracle/rprop.ts";

const number = fc.double({ min: -2, max: 2, noNaN: true });
const points: fc.Arbitrary<Points> = fc
  .array(fc.tuple(number, number, number, fc.double({ min: 0.1, max: 5, noNaN: true })), { minLength: 1, maxLength: 8 })
  .map((rows) => ({
    size: rows.length,
    dimensions: 2,
    inputs: rows.flatMap(([a, b]) => [a, b]),
    outputs: rows.map(([, , y]) => y),
    weights: rows.map(([, , , weight]) => weight),
    scatters: rows.map(([a, , , weight]) => (weight > 1 ? a * a : 0)),
  }));
const kernels = fc.array(fc.double({ min: -1.2, max: 1.2, noNaN: true }), { minLength: 4, maxLength: 4 });

describe("the likelihood of a kernel", () => {
  it("has the slope that small steps show", () => {
    fc.assert(
      fc.property(points, kernels, (its, logs) => {
        const { gradient } = likelihood(its, logs, 0.5);
        const step = 1e-5;
        for (const [p, log] of logs.entries()) {
          const above = likelihood(its, logs.with(p, log + step), 0.5).value;
          const below = likelihood(its, logs.with(p, log - step), 0.5).value;
          const shown = (above - below) / (2 * step);
          expect(Math.abs(gradient[p] - shown)).toBeLessThan(1e-4 * (1 + Math.abs(shown)));
        }
      }),
    );
  });

  it("is that of a normal distribution for one point, apart from what is expected of kernels", () => {
    const logs = logsOf(firstKernel(1));
    const one = (y: number) => ({ size: 1, dimensions: 1, inputs: [0], outputs: [y], weights: [1], scatters: [0] });
    const variance = 0.5 + 0.5 + 0.02;
    const density = (y: number) => -(y * y) / (2 * variance) - Math.log(2 * Math.PI * variance) / 2;
    expect(likelihood(one(1.5), logs, 0.5).value).toBeCloseTo(density(1.5), 9);
  });

  it("tells noise from measurements in one place as it does from as many single ones", () => {
    const single = {
      size: 3,
      dimensions: 1,
      inputs: [0, 0, 0],
      outputs: [1, 2, 3],
      weights: [1, 1, 1],
      scatters: [0, 0, 0],
    };
    const averaged = { size: 1, dimensions: 1, inputs: [0], outputs: [2], weights: [3], scatters: [2] };
    const logs = logsOf(firstKernel(1));
    const slopes = [single, averaged].map((points) => likelihood(points, logs, 0.5).gradient[2]);
    expect(slopes[0]).toBeCloseTo(slopes[1], 9);
  });

  it("is nowhere for points that no kernel explains in numbers", () => {
    const same = { size: 2, dimensions: 1, inputs: [0, 0], outputs: [1, 2], weights: [1e300, 1e300], scatters: [0, 0] };
    expect(likelihood(same, logsOf(firstKernel(1)), 0.5).value).toBe(-Infinity);
  });
});

describe("the climb", () => {
  it("finds the top of a hill, and the nearest place to it within bounds", () => {
    const bounds = { low: [-1, -1], high: [1, 1] };
    const hill = (top: number[]) => (at: readonly number[]) => ({
      value: -at.reduce((sum, x, d) => sum + (d + 1) * (x - top[d]) ** 2, 0),
      gradient: at.map((x, d) => -2 * (d + 1) * (x - top[d])),
    });
    for (const [top, found] of [
      [
        [0.3, -0.4],
        [0.3, -0.4],
      ],
      [
        [5, 0.1],
        [1, 0.1],
      ],
    ] as const) {
      const { at } = climb(hill([...top]), [0, 0], bounds, 60);
      expect(at[0]).toBeCloseTo(found[0], 1);
      expect(at[1]).toBeCloseTo(found[1], 1);
    }
  });

  it("goes back from where there is nothing", () => {
    const edge = (at: readonly number[]) => {
      const [x = 0] = at;
      return x > 0.5 ? { value: -Infinity, gradient: [0] } : { value: x, gradient: [1] };
    };
    const { at } = climb(edge, [0], { low: [-9], high: [9] }, 60);
    expect(at[0]).toBeGreaterThan(0.3);
    expect(at[0]).toBeLessThanOrEqual(0.5);
  });

  it("stays within the kernel's bounds from anywhere", () => {
    const bounds = kernelBounds(1);
    const its = { size: 2, dimensions: 1, inputs: [0, 1], outputs: [0, 3], weights: [1, 1], scatters: [0, 0] };
    const { at } = climb((logs) => likelihood(its, logs, 0.5), [99, -99, 99], bounds, 40);
    for (const [d, log] of at.entries()) {
      expect(log).toBeGreaterThanOrEqual(bounds.low[d]);
      expect(log).toBeLessThanOrEqual(bounds.high[d]);
    }
  });
});
