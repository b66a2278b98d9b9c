import { describe, expect, it } from "vitest";
import { parseOptions } from "./options.ts";
import { fullPlan, quickPlan } from "./plan.ts";
import { cpuMs, cpuMsOf, openFilesLimitOf, residentKbOf } from "./process/proc-stat.ts";
import { median, medianRatio, percentile } from "./report/median.ts";
import { resultsText, withResults } from "./report/results-section.ts";
import { isHeld, rowOfRounds } from "./report/row.ts";
import { shown, table } from "./report/table.ts";
import { interleave } from "./scenarios/interleave.ts";
import { schedulerTable } from "./scheduler/table.ts";
import { affordableStreams } from "./scenarios/open-streams.ts";
import { findProgram } from "./targets/find-program.ts";
import { gatewayCommand } from "./targets/gateway.ts";

describe("what Linux says about a process", () => {
  it("adds user and system time, whatever the program calls itself", () => {
    const stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 900 0 0 0 12 34 0 0 20 0 1 0 5 1000 50";
    expect(cpuMsOf(stat)).toBe(460);
  });

  it("reads resident memory and the limit of open files", () => {
    expect(residentKbOf("Name:\tnode\nVmHWM:\t  90000 kB\nVmRSS:\t  81234 kB\nThreads:\t11\n")).toBe(81_234);
    const head = "Limit                     Soft Limit           Hard Limit           Units     \n";
    expect(
      openFilesLimitOf(`${head}Max open files            1024                 524288               files     \n`),
    ).toBe(1024);
    expect(
      openFilesLimitOf(`${head}Max open files            unlimited            unlimited            files     \n`),
    ).toBe(Infinity);
  });

  it.runIf(process.platform === "linux")("sees this process at work", () => {
    expect(cpuMs(process.pid)).toBeGreaterThan(0);
  });
});

describe("figures", () => {
  it("takes the middle, or the mean of the two in the middle", () => {
    expect(median([9, 1, 5])).toBe(5);
    expect(median([4, 1, 2, 3])).toBe(2.5);
    expect(median([])).toBeNaN();
    expect(percentile([4, 1, 3, 2], 0.5)).toBe(2);
    expect(percentile([4, 1, 3, 2], 0.99)).toBe(4);
    expect(percentile([], 0.99)).toBeNaN();
  });

  it("compares round by round, so that a slow moment of the machine cancels out", () => {
    expect(medianRatio([30, 300, 33], [10, 100, 11])).toBe(3);
  });

  it("throws the first round away and goes through the names in turn", async () => {
    const asked: string[] = [];
    const figures = await interleave(["a", "b"], { rounds: 2, warmups: 1 }, async (name) => asked.push(name));
    expect(asked).toEqual(["a", "b", "a", "b", "a", "b"]);
    expect(figures).toEqual({ a: [3, 5], b: [4, 6] });
  });

  it("opens no more streams than there are files for", () => {
    expect(affordableStreams(2_000, 20_000)).toBe(2_000);
    expect(affordableStreams(2_000, 1_024)).toBe(384);
    expect(affordableStreams(2_000, 100)).toBe(0);
    expect(affordableStreams(2_000, Infinity)).toBe(2_000);
  });
});

describe("the table", () => {
  const rounds = { nginx: [10, 20, 10], haproxy: [12, 12, 12], gateway: [30, 60, 30] };

  it("holds a ratio or a value against its guide", () => {
    const row = rowOfRounds("CPU", rounds, { of: "ratio", limit: 2.7 });
    expect(row.ratio).toBe(3);
    expect(isHeld(row)).toBe(false);
    expect(isHeld(rowOfRounds("time", rounds, { of: "value", limit: 100 }))).toBe(true);
    expect(isHeld(rowOfRounds("time", rounds))).toBeUndefined();
  });

  it("judges no ratio where nginx was not measured", () => {
    const row = rowOfRounds("CPU", { gateway: [30] }, { of: "ratio", limit: 2.7 });
    expect(row.ratio).toBeUndefined();
    expect(isHeld(row)).toBeUndefined();
  });

  it("shows three digits and a dash for what is missing", () => {
    expect([1234.5, 34.56, -0.123, undefined, Number.NaN].map(shown)).toEqual(["1235", "34.6", "-0.12", "-", "-"]);
  });

  it("aligns its columns", () => {
    const lines = table([rowOfRounds("CPU", rounds, { of: "ratio", limit: 5, aim: 3 })], ["nginx", "gateway"]).split(
      "\n",
    );
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
    expect(lines[2]?.replaceAll(/ +/g, " ")).toBe("| CPU | 10.0 | 30.0 | 3.00x | <= 5x, aim 3x | yes |");
  });

  it("tells the scheduler's cost beside its ratio to that with few jobs", () => {
    const cost = { micros: 12.34, ratio: 2 };
    const dear = { micros: 50, ratio: 9 };
    const costs = { arrive: cost, done: cost, leave: cost, tick: cost, mean: cost };
    const size = { models: 20, queued: 10_000 };
    const rows = [
      { ...size, budget: 0, costs },
      { ...size, budget: 64, costs: { ...costs, mean: dear } },
    ];
    const lines = schedulerTable(rows).replaceAll(/ +/g, " ").split("\n");
    expect(lines[2]).toContain("| 20 | one model at a time | 12.3 (2.00x) |");
    expect(lines[2]).toContain("| 12.3 (2.00x) | < 50 us | yes |");
    expect(lines[3]).toContain("| 64 GB | 12.3 (2.00x) |");
    expect(lines[3]).toContain("| 50.0 (9.00x) | < 50 us | NO |");
  });

  it("replaces what stands between the markers of the README and nothing else", () => {
    const readme = "a\n<!-- results: begin -->\nold\n<!-- results: end -->\nz\n";
    const written = withResults(readme, resultsText("| t |", { cores: 2, node: "20.20.2" }, ["a note"]));
    expect(written).toBe(
      "a\n<!-- results: begin -->\n2 cores, Node 20.20.2.\n\n| t |\n\n* a note\n<!-- results: end -->\nz\n",
    );
    expect(withResults(written, "again")).toBe("a\n<!-- results: begin -->\nagain\n<!-- results: end -->\nz\n");
    const two = `${readme}<!-- scheduler: begin -->\n<!-- scheduler: end -->\n`;
    expect(withResults(two, "new", "scheduler")).toBe(
      `${readme}<!-- scheduler: begin -->\nnew\n<!-- scheduler: end -->\n`,
    );
    expect(() => withResults("no markers", "x")).toThrow("no <!-- results: begin -->");
  });
});

describe("the options", () => {
  it("lets only a whole run of the project's own gateway write the README", () => {
    expect(parseOptions([], {})).toMatchObject({ plan: fullPlan, write: true });
    expect(parseOptions(["--quick"], {})).toMatchObject({ plan: quickPlan, write: false });
    expect(parseOptions(["--only", "first-byte"], {}).write).toBe(false);
    expect(parseOptions([], { BENCH_GATEWAY: "node x" })).toMatchObject({ write: false, gateway: "node x" });
    expect(parseOptions(["--quick", "--write"], {}).write).toBe(true);
  });

  it("leaves the proxies alone where the scheduler alone is asked for", () => {
    expect(parseOptions(["--only", "scheduler"], {})).toMatchObject({ scenarios: [], scheduler: true, write: false });
    expect(parseOptions(["--only", "first-byte"], {})).toMatchObject({ scenarios: [{}], scheduler: false });
    expect(parseOptions([], {}).scheduler).toBe(true);
  });

  it("refuses what it does not know", () => {
    expect(() => parseOptions(["--only", "lunch"], {})).toThrow("no scenario lunch");
    expect(() => parseOptions(["--fast"], {})).toThrow("--fast");
  });

  it("fills the place of a gateway into its command", () => {
    const place = { port: 8400, upstream: "http://127.0.0.1:9", config: "f.yaml" };
    expect(gatewayCommand("node x  {port} {upstream} --config {config}", place)).toEqual([
      "node",
      "x",
      "8400",
      "http://127.0.0.1:9",
      "--config",
      "f.yaml",
    ]);
  });

  it("finds an installed program, and says where there is none", () => {
    expect(findProgram("sh")).toMatch(/\/sh$/);
    expect(findProgram("no-such-program-at-all")).toBeUndefined();
  });
});
