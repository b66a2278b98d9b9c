import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Collector } from "../../src/report/collector.ts";
import { comparison, markdownTable } from "../../src/report/comparison.ts";
import { applicationsCsv, windowsCsv } from "../../src/report/csv.ts";
import { writeReports } from "../../src/report/files/write-reports.ts";
import { plots } from "../../src/report/plots.ts";
import { Progress } from "../../src/report/progress.ts";
import { lineChart } from "../../src/report/svg/line-chart.ts";
import { evenTicks, powerTicks } from "../../src/report/svg/ticks.ts";

function report(name: string) {
  const applications = [
    { name: 'chat, "fast"', ttftMs: 100, tpotMs: 10 },
    { name: "unasked", ttftMs: 100, tpotMs: 10 },
  ];
  const parts = [{ name: "day", from: 0, to: 20_000 }];
  const collector = new Collector({ applications, spanMs: 20_000, parts });
  collector.devices(0, 4);
  collector.ended(0, 100, 150, 250, 11, "done");
  collector.ended(0, 12_000, 12_900, 13_000, 2, "done");
  collector.loaded("disk", 3e9, 900);
  return collector.report(name, 20_000);
}

describe("a report's files", () => {
  it("are all there, and its JSON is the report", async () => {
    const folder = await mkdtemp(join(tmpdir(), "farmgate-report-"));
    try {
      const names = await writeReports(join(folder, "new"), [report("a"), report("b")]);
      expect((await readdir(join(folder, "new"))).sort()).toEqual(names.toSorted());
      const written: unknown = JSON.parse(await readFile(join(folder, "new", "report.json"), "utf8"));
      expect(written).toEqual([report("a"), report("b")]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("quote what a table would trip over, and leave out what is not known", () => {
    const [head, first, second] = applicationsCsv([report("a")]).split("\n");
    expect(head).toMatch(/^policy,application,requests,on_time,attainment,.*ttft_p50_ms/);
    expect(first).toMatch(/^a,"chat, ""fast""",2,1,0\.5,2,0,0,0,\d/);
    expect(second).toBe("a,unasked,0,0,,0,0,0,0,,,,,,,,,");
    expect(
      windowsCsv([report("a")])
        .split("\n")
        .slice(1, 3),
    ).toEqual(["a,0,0.1,1,0.1,4", "a,10,0.1,0,0,4"]);
  });

  it("put the policies side by side in a table", () => {
    const { headings, rows } = comparison([report("one"), report("other")]);
    expect(rows.map((row) => row.length)).toEqual([headings.length, headings.length]);
    const lines = markdownTable({ headings, rows }).trimEnd().split("\n");
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
    expect(lines[2]).toMatch(/^\| one {4}\| 2 .*50\.0 %/);
  });

  it("plot every policy, with its name beside it and nothing that breaks the file", () => {
    const drawn = plots([report("a<b"), report("c&d")]);
    expect(Object.keys(drawn)).toEqual(["attainment.svg", "goodput.svg", "devices.svg", "ttft.svg"]);
    for (const svg of Object.values(drawn)) {
      expect(svg).toContain(">a&lt;b</text>");
      expect(svg).toContain(">c&amp;d</text>");
      expect(svg).not.toMatch(/NaN|Infinity|undefined|null/);
    }
  });

  it("plot nothing at all without harm, and break a line where a value is missing", () => {
    const axis = { label: "l" };
    expect(lineChart({ title: "t", x: axis, y: axis, lines: [] })).not.toMatch(/NaN|Infinity/);
    const values = [1, null, 2, 3];
    const lines = [{ name: "n", points: values.map((y, x) => ({ x, y })) }];
    const broken = lineChart({ title: "t", x: axis, y: axis, lines });
    expect(broken).toMatch(/d="M[\d. ]+M[\d. ]+L[\d. ]+" fill="none" stroke="#0072b2"/);
  });

  it("mark round values on their axes", () => {
    expect(evenTicks(0, 1, 6)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(evenTicks(0, 620, 6)).toEqual([0, 200, 400, 600]);
    expect(evenTicks(5, 5, 6)).toEqual([5]);
    expect(powerTicks(3, 4_000)).toEqual([1, 10, 100, 1_000, 10_000]);
  });
});

describe("progress", () => {
  function run(isTerminal: boolean): string {
    let text = "";
    let now = 0;
    const progress = new Progress("two pools", { write: (piece) => (text += piece), isTerminal, now: () => now });
    for (let share = 0; share <= 1; share += 0.01) {
      now += 100;
      progress.at(share);
    }
    progress.done("9 events");
    return text;
  }

  it("is one line that is drawn anew on a terminal", () => {
    const text = run(true);
    expect(text.split("\n")).toHaveLength(2);
    expect(text).toContain("\rtwo pools [############------------] 5");
    expect(text).toMatch(/\rtwo pools: done in 10\.\d s, 9 events +\n$/);
  });

  it("is ten plain lines and no sign that a file would choke on anywhere else", () => {
    const lines = run(false).trimEnd().split("\n");
    expect(lines).toHaveLength(10);
    expect(lines[0]).toMatch(/^two pools: 10 %, \d+ s left$/);
    expect(lines.join("")).not.toContain("\r");
  });
});
