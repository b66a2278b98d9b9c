import { seededRandom } from "@farmgate/shared";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CapacityOracle, decodeOracles, ElasticityOracle, encodeOracles } from "../../../src/policies.ts";
import { loads, someLoad } from "./loads.ts";

const options = () => ({ learning: { random: seededRandom(1) } });

function taught(models: readonly string[]) {
  const oracles = { capacity: new CapacityOracle(options()), elasticity: new ElasticityOracle(options()) };
  const random = seededRandom(5);
  for (const model of models) {
    for (let at = 0; at < 20; at += 1) {
      const load = someLoad(random);
      const compute = load.requestsPerSecond / 10;
      oracles.capacity.observe(model, load, { memory: 2e10 + 1e9 * random(), compute, bandwidth: random() });
      oracles.elasticity.observe(model, load, 1 + (at % 3), random());
    }
  }
  return oracles;
}

describe("what was learned, as JSON", () => {
  it("says the same when it is read again", () => {
    const oracles = taught(["a", "__proto__", "constructor"]);
    const again = decodeOracles(encodeOracles(oracles), options());
    expect(again.problem).toBeNull();
    const random = seededRandom(6);
    for (const model of ["a", "__proto__", "constructor", "never met"]) {
      const load = someLoad(random);
      const before = oracles.capacity.predict(model, load);
      const after = again.capacity.predict(model, load);
      for (const name of ["memory", "compute", "bandwidth"] as const) {
        expect(after[name].mean / before[name].mean).toBeCloseTo(1, 4);
      }
      const share = again.elasticity.predict(model, load, 2).mean;
      expect(Math.abs(share - oracles.elasticity.predict(model, load, 2).mean)).toBeLessThan(1e-4);
      expect(again.capacity.points(model)).toBe(oracles.capacity.points(model));
    }
  });

  it("is the same text when it is read and written", () => {
    const readAndUsed = (text: string) => {
      const oracles = decodeOracles(text, options());
      expect([oracles.capacity.points("a"), oracles.elasticity.points("a")]).toEqual([20, 20]);
      return encodeOracles(oracles);
    };
    const first = encodeOracles(taught(["a"]));
    expect(encodeOracles(decodeOracles(first, options()))).toBe(first);
    const once = readAndUsed(first);
    expect(readAndUsed(once)).toBe(once);
  });

  it("takes a model for what is known of it when it is met again, not when it was read", () => {
    let weightBytes = 1e9;
    const known = { ...options(), facts: () => ({ weightBytes }) };
    const load = someLoad(seededRandom(7));
    const far = { ...load, requestsPerSecond: 1e-6 };
    const again = decodeOracles(encodeOracles(taught(["a"])), known);
    weightBytes = 1e12;
    const later = decodeOracles(encodeOracles(taught(["a"])), known);
    expect(again.capacity.predict("a", far)).toEqual(later.capacity.predict("a", far));
    expect(again.elasticity.predict("a", far, 1)).toEqual(later.elasticity.predict("a", far, 1));
  });

  it("can be read again whatever was measured", () => {
    const amount = fc.oneof(fc.constantFrom(0, 1e-300, 1e17), fc.double({ min: 0, max: 1e12, noNaN: true }));
    const measurement = fc.tuple(loads, fc.record({ memory: amount, compute: amount, bandwidth: amount }));
    fc.assert(
      fc.property(fc.array(measurement, { maxLength: 12 }), (all) => {
        const oracles = { capacity: new CapacityOracle(options()), elasticity: new ElasticityOracle(options()) };
        for (const [load, took] of all) {
          oracles.capacity.observe("m", load, took);
          oracles.elasticity.observe("m", load, 3, Math.min(took.compute, 1));
        }
        const again = decodeOracles(encodeOracles(oracles), options());
        expect(again.problem).toBeNull();
        expect(again.capacity.points("m")).toBe(oracles.capacity.points("m"));
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    ["nothing", ""],
    ["half of it", encodeOracles(taught(["a"])).slice(0, 999)],
    ["another version's", encodeOracles(taught([])).replace('"version":1', '"version":2')],
    ["with a point that lacks an input", encodeOracles(taught(["a"])).replace(/"input":\[[^,]+,/, '"input":[')],
    ["with a number that is none", encodeOracles(taught(["a"])).replace(/"weight":1/, '"weight":null')],
    ["with a negative noise", encodeOracles(taught(["a"])).replace(/"noise":/, '"noise":-')],
    ["somebody else's", '{"models":[]}'],
    ["a number", "3"],
  ])("is learned anew, and told so, when it is %s", (_, text) => {
    const { capacity, problem } = decodeOracles(text, options());
    expect(problem).toMatch(/learned anew/);
    expect(capacity.points("a")).toBe(0);
  });

  it("is never read with an exception", () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
        expect(decodeOracles(text, options()).problem).not.toBeNull();
      }),
    );
  });
});
