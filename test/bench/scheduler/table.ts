// The scheduler's figures as a Markdown table that also reads well in a terminal.
import { aligned, shown } from "../report/table.ts";
import type { Cost, EventKind, SchedulerRow } from "./measure.ts";

/** Microseconds per event, over all kinds. */
const GUIDE = 50;
const COLUMNS: Record<EventKind, string> = {
  arrive: "arrive",
  done: "done and grant",
  leave: "leave",
  tick: "tick",
  mean: "all",
};

export function schedulerTable(rows: readonly SchedulerRow[]): string {
  const kinds = Object.keys(COLUMNS) as EventKind[];
  const heads = ["models", "memory", ...kinds.map((kind) => `${COLUMNS[kind]}, us`), "guide", "held"];
  const lines = rows.map(({ models, budget, costs }) => [
    String(models),
    budget === 0 ? "one model at a time" : `${budget} GB`,
    ...kinds.map((kind) => cell(costs[kind])),
    `< ${GUIDE} us`,
    costs.mean.micros < GUIDE ? "yes" : "NO",
  ]);
  return aligned([heads, ...lines]);
}

function cell({ micros, ratio }: Cost): string {
  return `${shown(micros)} (${shown(ratio)}x)`;
}
