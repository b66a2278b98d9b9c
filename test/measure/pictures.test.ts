import { describe, expect, it } from "vitest";
import { dashboard, type Panel } from "../observe/queries.ts";
import type { Evaluated, Series } from "./watched/evaluate.ts";
import { pageOf } from "./watched/pictures/page.ts";
import { tableOf } from "./watched/pictures/table-panel.ts";
import { timeSeries } from "./watched/pictures/time-series.ts";
import { shownIn } from "./watched/pictures/units.ts";

const SPAN = { from: 1_000, to: 1_004 };
const LABELS = { worker: "b<x", model: "m", instance: "g", from: "a", to: "m", status: "502", result: "ok" };

function answersTo({ id, title, targets }: Panel): Evaluated[] {
  return targets.map(({ refId, expr, instant }) => {
    const series: Series = instant
      ? { metric: LABELS, value: [1_004, "1"] }
      : { metric: LABELS, values: [1_000, 1_001, 1_003].map((at) => [at, at === 1_001 ? "NaN" : "1"]) };
    return { from: title, panel: id, refId, expr, series: [series], fault: null };
  });
}

describe("the page of the dashboard", () => {
  const { panels, rows } = dashboard();

  it("has every panel with its title and queries, of whatever type it is", () => {
    const { html, size, panels: drawn } = pageOf(panels.flatMap(answersTo), SPAN);
    expect(drawn.map(({ title }) => title)).toEqual(panels.map(({ title }) => title));
    for (const { title } of [...rows, ...panels]) expect(html).toContain(`>${title}</h`);
    expect(html.match(/<code>/g)).toHaveLength(panels.flatMap(({ targets }) => targets).length);
    expect(html).not.toMatch(/No data|NaN|Infinity|undefined|b<x/);
    expect(html).not.toMatch(/(src|href)=/);
    expect(drawn.every((one) => one.size.width <= size.width)).toBe(true);
  });

  it("says where Prometheus had nothing", () => {
    expect(pageOf([], SPAN).html.match(/No data/g)).toHaveLength(panels.length);
  });
});

function panelOf(more: Partial<Panel>): Panel {
  const gridPos = { x: 0, y: 0, w: 6, h: 8 };
  const targets = ["A", "B"].map((refId) => ({ refId, expr: "", legendFormat: `${refId} {{model}}`, instant: false }));
  return { id: 1, type: "", title: "", gridPos, fieldConfig: { defaults: {}, overrides: [] }, targets, ...more };
}

describe("a panel", () => {
  it("joins the answers to its queries by their labels, names its columns and puts the greatest first", () => {
    const one = (model: string, value: string): Series => ({ metric: { model }, value: [1, value] });
    const panel = panelOf({
      options: { sortBy: [{ displayName: "waited", desc: true }] },
      transformations: [
        {
          id: "organize",
          options: {
            indexByName: { model: 0, "Value #A": 1 },
            renameByName: { "Value #A": "waited", "Value #B": "failed" },
          },
        },
      ],
    });
    const answers = new Map([
      ["A", [one("less", "1"), one("more", "2")]],
      ["B", [one("less", "3")]],
    ]);
    const { columns, rows } = tableOf(panel, answers);
    expect(columns).toEqual(["model", "waited", "failed"]);
    expect(rows.map((cells) => columns.map((name) => cells.get(name)))).toEqual([
      ["more", 2, undefined],
      ["less", 1, 3],
    ]);
  });

  it("stacks its lines where it says so, in the colours that it says", () => {
    const values: [number, string][] = [1_000, 1_001].map((at) => [at, "1"]);
    const answers = new Map(["A", "B"].map((refId) => [refId, [{ metric: { model: "m" }, values }]]));
    const overrides = [
      {
        matcher: { id: "byName", options: "A m" },
        properties: [{ id: "color", value: { mode: "fixed", fixedColor: "red" } }],
      },
    ];
    const drawn = (mode: string) => {
      const panel = panelOf({ fieldConfig: { defaults: { custom: { stacking: { mode } } }, overrides } });
      return timeSeries(
        { panel, answers: new Map(answers), span: { from: 1_000, to: 1_004 } },
        { width: 400, height: 200 },
      );
    };
    expect(drawn("normal").match(/fill-opacity/g)).toHaveLength(2);
    expect(drawn("none")).not.toContain("fill-opacity");
    expect(drawn("none").match(/stroke="#e02f44"/g)).toHaveLength(2);
  });

  it.each([
    ["s", 0.25, undefined, "250 ms"],
    ["s", 90, 1, "1.5 mins"],
    ["percentunit", 0.256, 0, "26%"],
    ["bytes", 3 * 1_024 ** 3, undefined, "3 GiB"],
    ["short", 12_300, undefined, "12.3 K"],
    ["short", 0.5, undefined, "0.5"],
    ["suffix: tokens/s", 20, undefined, "20 tokens/s"],
  ] as const)("writes a number in the unit %s: %d", (unit, value, decimals, text) => {
    expect(shownIn(unit, value, decimals)).toBe(text);
  });
});
