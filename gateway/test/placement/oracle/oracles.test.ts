import { seededRandom } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CapacityOracle, ElasticityOracle, lower, safeDemand, smallestReplicas, upper } from "../../../src/policies.ts";
import { load, loads, someLoad } from "./loads.ts";

const learning = () => ({ learning: { random: seededRandom(1) } });
const facts = () => ({ weightBytes: 16e9, activeParameters: 8e9, kvBytesPerToken: 131_072 });
const measured = { memory: 18e9, compute: 0.6, bandwidth: 0.5 };

describe("what a model takes", () => {
  it("is guessed widely of a model of which nothing is known, and less so of one whose size is", () => {
    const wide = new CapacityOracle(learning()).predict("m", load);
    const known = new CapacityOracle({ ...learning(), facts }).predict("m", load);
    const relative = ({ mean, variance }: { mean: number; variance: number }) => Math.sqrt(variance) / mean;
    expect(relative(wide.memory)).toBeGreaterThan(3 * relative(known.memory));
    expect(known.memory.mean).toBeGreaterThan(16e9);
    expect(known.memory.mean).toBeLessThan(20e9);
    expect(upper(wide.compute, 2)).toBeGreaterThan(2 * wide.compute.mean);
  });

  it("is what was measured, with less headroom than before", () => {
    const oracle = new CapacityOracle({ ...learning(), facts });
    const before = safeDemand(oracle.predict("m", load), 2);
    for (let at = 0; at < 10; at += 1) expect(oracle.observe("m", load, measured)).toBe(true);
    const { memory, compute, bandwidth } = oracle.predict("m", load);
    expect(memory.mean / 18e9).toBeCloseTo(1, 1);
    expect(compute.mean).toBeCloseTo(0.6, 1);
    expect(bandwidth.mean).toBeCloseTo(0.5, 1);
    const after = safeDemand({ memory, compute, bandwidth }, 2);
    expect(after.memory - memory.mean).toBeLessThan(before.memory - 16e9);
    expect(oracle.points("m")).toBe(1);
    oracle.forget("m");
    expect(oracle.points("m")).toBe(0);
  });

  it("is learned from nothing that is not finite, and not asked for such a load", () => {
    const oracle = new CapacityOracle(learning());
    for (const bad of [NaN, Infinity, -1]) {
      expect(oracle.observe("m", { ...load, inputMean: bad }, measured)).toBe(false);
      expect(oracle.observe("m", load, { ...measured, compute: bad })).toBe(false);
      expect(() => oracle.predict("m", { ...load, requestsPerSecond: bad })).toThrow(RangeError);
    }
    expect(oracle.points("m")).toBe(0);
  });

  it("is finite and not below zero, whatever was measured under whatever load", () => {
    const amount = fc.oneof(fc.constantFrom(0, 1e-300, 1e17), fc.double({ min: 0, max: 1e12, noNaN: true }));
    const measurement = fc.tuple(loads, fc.record({ memory: amount, compute: amount, bandwidth: amount }));
    fc.assert(
      fc.property(fc.array(measurement, { maxLength: 12 }), loads, (all, asked) => {
        const oracle = new CapacityOracle(learning());
        for (const [its, took] of all) expect(oracle.observe("m", its, took)).toBe(true);
        for (const { mean, variance } of Object.values(oracle.predict("m", asked))) {
          expect(mean).toBeGreaterThanOrEqual(0);
          expect(variance).toBeGreaterThan(0);
          expect(mean + variance).toBeLessThan(Infinity);
        }
      }),
      { numRuns: 20 },
    );
  });

  it("tells that it is plainly wrong of a model, and of that one alone", () => {
    const oracle = new CapacityOracle(learning());
    const random = seededRandom(2);
    const seen = new Set<boolean>();
    for (let at = 0; at < 90; at += 1) {
      oracle.observe("odd", someLoad(random), { ...measured, compute: 0.01 * 4 ** Math.floor(at / 9) });
      oracle.observe("even", load, measured);
      seen.add(oracle.plainlyWrong("odd"));
      expect(oracle.fitness("even")).toBe("fits");
    }
    expect(seen).toEqual(new Set([false, true]));
    expect(oracle.plainlyWrong("never met")).toBe(false);
  });
});

describe("the share on time", () => {
  it("is larger with more replicas before anything is measured", () => {
    const shares = new ElasticityOracle({ ...learning(), facts }).predictReplicas(
      "m",
      { ...load, requestsPerSecond: 4 },
      12,
    );
    expect(shares.map(({ mean }) => mean)).toEqual(shares.map(({ mean }) => mean).toSorted((a, b) => a - b));
    expect(shares[0]?.mean).toBeLessThan(0.5);
    expect(shares[11]?.mean).toBeGreaterThan(0.95);
  });

  it("is learned for the replicas there were, and for the others from there", () => {
    const oracle = new ElasticityOracle({ ...learning(), facts });
    const random = seededRandom(3);
    const truth = (rate: number, replicas: number) => 1 / (1 + (rate / (3 * replicas)) ** 5);
    for (let at = 0; at < 80; at += 1) {
      const its = someLoad(random);
      const replicas = 1 + Math.floor(6 * random());
      oracle.observe("m", its, replicas, truth(its.requestsPerSecond, replicas));
    }
    const busy = { ...load, requestsPerSecond: 6 };
    for (const [index, { mean }] of oracle.predictReplicas("m", busy, 6).entries()) {
      expect(Math.abs(mean - truth(6, index + 1))).toBeLessThan(0.2);
    }
    expect(smallestReplicas((n) => oracle.predict("m", busy, n), 8, 0.94, 0)).toBe(4);
  });

  it("is a share with a variance, whatever was measured under whatever load", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    const measurement = fc.tuple(loads, fc.integer({ min: 1, max: 5000 }), share);
    fc.assert(
      fc.property(fc.array(measurement, { maxLength: 12 }), loads, (all, asked) => {
        const oracle = new ElasticityOracle(learning());
        for (const its of all) expect(oracle.observe("m", ...its)).toBe(true);
        const several = oracle.predictReplicas("m", asked, 5);
        for (const [index, { mean, variance }] of several.entries()) {
          expect(mean).toBeGreaterThanOrEqual(0);
          expect(mean).toBeLessThanOrEqual(1);
          expect(variance).toBeGreaterThanOrEqual(0);
          expect(oracle.predict("m", asked, index + 1).mean).toBeCloseTo(mean, 6);
        }
      }),
      { numRuns: 20 },
    );
  });

  it("is learned from nothing that is no share, and not asked for without replicas", () => {
    const oracle = new ElasticityOracle(learning());
    for (const bad of [NaN, Infinity, -0.1, 1.1]) expect(oracle.observe("m", load, 1, bad)).toBe(false);
    for (const bad of [NaN, Infinity, 0]) {
      expect(oracle.observe("m", load, bad, 1)).toBe(false);
      expect(() => oracle.predict("m", load, bad)).toThrow(RangeError);
    }
    expect(oracle.points("m")).toBe(0);
  });
});

describe("the smallest number of replicas", () => {
  const curve = (means: readonly number[]) => (n: number) => ({ mean: means[n - 1] ?? 0, variance: 1e-4 });

  it("is the first that is on time on the safe side, and null when there are too few", () => {
    expect(smallestReplicas(curve([0.5, 0.95, 0.97, 0.99]), 4, 0.95, 0)).toBe(2);
    expect(smallestReplicas(curve([0.5, 0.95, 0.97, 0.99]), 4, 0.95, 2)).toBe(3);
    expect(smallestReplicas(curve([0.5, 0.95, 0.97, 0.99]), 4, 0.99, 2)).toBeNull();
  });

  it("is the one of the running maximum of any curve", () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.array(share, { minLength: 1, maxLength: 12 }), share, (means, target) => {
        let best = -1;
        const running = means.map((_, index) => {
          best = Math.max(best, lower(curve(means)(index + 1), 1));
          return best;
        });
        const first = running.findIndex((bound) => bound >= target);
        expect(smallestReplicas(curve(means), means.length, target, 1)).toBe(first < 0 ? null : first + 1);
      }),
    );
  });
});
