import { describe, expect, it } from "vitest";
import { comparisonRows } from "../../src/cluster/comparison-rows.ts";
import { runPolicy } from "../../src/cluster/compare.ts";
import type { PolicyName } from "../../src/cluster/names.ts";
import { type Scenario, scenarioOf } from "../../src/cluster/scenario.ts";
import type { Report } from "../../src/report/types.ts";
import type { Trace } from "../../src/trace/types.ts";

const measures = { now: () => 0, memory: () => 0 };

/** A part of a scenario, so that the test is short. */
function from(scenario: Scenario, fromMs: number, toMs: number): Scenario {
  const { trace } = scenario;
  const first = trace.at.findIndex((at) => at >= fromMs);
  const last = trace.at.findIndex((at) => at >= toMs);
  const cut: Trace = {
    applications: trace.applications,
    at: trace.at.slice(first, last).map((at) => at - fromMs),
    app: trace.app.slice(first, last),
    input: trace.input.slice(first, last),
    output: trace.output.slice(first, last),
  };
  return { ...scenario, trace: cut, spanMs: toMs - fromMs, parts: [{ name: "all", from: 0, to: toMs - fromMs }] };
}

function run(scenario: Scenario, name: PolicyName): Report {
  return runPolicy(scenario, name, 1, measures);
}

describe("five applications and a burst", () => {
  const burst = from(scenarioOf("five-burst", { seed: 1 }), 60_000, 200_000);

  it("are served better by two pools than by either alone", () => {
    const both = run(burst, "two-pools").attainment ?? 0;
    expect(both).toBeGreaterThan(run(burst, "elastic-only").attainment ?? 1);
    expect(both).toBeGreaterThan(run(burst, "stable-only").attainment ?? 1);
  });

  it("end alike in two runs", () => {
    const short = from(scenarioOf("five-burst", { seed: 1 }), 115_000, 130_000);
    expect(run(short, "two-pools")).toEqual(run(short, "two-pools"));
  });

  it("are told of in a row for each policy", () => {
    const report = run(burst, "static");
    const { headings, rows } = comparisonRows([report, { ...report, name: "other" }]);
    expect(rows).toHaveLength(2);
    const cell = (heading: string) => rows[0]?.[headings.indexOf(heading)];
    expect(cell("policy")).toBe("static");
    expect(cell("on time")).toBe((100 * (report.attainment ?? 0)).toFixed(1));
    // It has all devices from the start.
    expect(cell("devices all")).toBe("8");
  });
});

describe("scenarioOf", () => {
  it("scales recorded loads to the same part of the devices' time", () => {
    const rows = 400;
    const recorded: Trace = {
      applications: ["all"],
      at: Float64Array.from({ length: rows }, (_, i) => 1_000 * i),
      app: new Uint16Array(rows),
      input: new Uint32Array(rows).fill(500),
      output: new Uint32Array(rows).fill(100),
    };
    const { demand, shape } = scenarioOf("azure", { seed: 1, recorded });
    const busy = demand.reduce((sum, one) => sum + one, 0) / (shape.hosts * shape.devicesPerHost);
    expect(busy).toBeGreaterThan(0.2);
    expect(busy).toBeLessThan(0.26);
    const half = scenarioOf("azure", { seed: 1, recorded, scale: 0.5 });
    expect(half.demand.reduce((sum, one) => sum + one, 0)).toBeLessThan(0.14 * shape.hosts * shape.devicesPerHost);
  });

  it("replays no recorded load that is not given", () => {
    expect(() => scenarioOf("mooncake", { seed: 1 })).toThrow(/recorded/);
  });
});
