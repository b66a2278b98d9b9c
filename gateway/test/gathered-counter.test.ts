import * as fc from "fast-check";
import { Registry } from "prom-client";
import { describe, expect, it } from "vitest";
import { GatheredCounter } from "../src/gathered-counter.ts";

/** The series with their values, after reading. */
async function read(registry: Registry): Promise<Record<string, number>> {
  const [metric] = await registry.getMetricsAsJSON();
  const series = metric?.values.map(({ labels, value }) => [
    JSON.stringify([labels["model"], labels["status"]]),
    value,
  ]);
  return Object.fromEntries(series ?? []) as Record<string, number>;
}

const step = fc.record({
  model: fc.constantFrom("a", "b", "c", "d", "e"),
  status: fc.constantFrom(200, 404, 502),
  by: fc.nat(9),
});

describe("a gathered counter", () => {
  it("tells at each reading what was counted until then, whatever the labels and their order", async () => {
    const property = fc.asyncProperty(fc.array(fc.array(step)), async (rounds) => {
      const registry = new Registry();
      const labelNames = ["model", "status"] as const;
      const counter = new GatheredCounter({ name: "steps", help: "-", labelNames, registers: [registry] });
      const expected: Record<string, number> = {};
      for (const steps of rounds) {
        for (const { model, status, by } of steps) {
          counter.inc({ model, status }, by);
          const key = JSON.stringify([model, status]);
          expected[key] = (expected[key] ?? 0) + by;
        }
        expect(await read(registry)).toEqual(expected);
      }
    });
    await fc.assert(property);
    expect.hasAssertions();
  });
});
