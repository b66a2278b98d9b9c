import { formatDuration, plainText } from "@farmgate/shared";
import type { Summary } from "@farmgate/simulator/virtual";
import { count } from "../render/count.ts";
import { table } from "../render/table.ts";
import { wrap } from "../render/wrap.ts";
import { someOf } from "./some-of.ts";
import type { Simulation } from "./farm.ts";

/** Changes that are shown, and the least that one must save of a request's wait to be named: less is noise. */
const MOST_ADVICE = 8;
const LEAST_SAVED_MS = 50;
/** Of sentences, in columns. */
const MOST_COLUMNS = 120;

/** A simulation as text, for a terminal of `width` columns. */
export function renderSimulation(simulation: Simulation, folder: string, width: number): string {
  const { configured, whatIf, advice, written } = simulation;
  const parts = [
    headLines(simulation, width),
    runLines(simulation, width),
    workerLines(configured, width),
    ...(whatIf === null ? [] : [[whatIf.name], workerLines(whatIf.summary, width)]),
    adviceLines(advice, width),
    written.length === 0 ? [] : [`Written to ${folder}: ${written.join(", ")}`],
  ];
  return `${parts
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

function headLines({ farm, traffic, seed, notes, unknown, configured }: Simulation, width: number): string[] {
  const { requests, workers, makespanMs, targetMs } = configured;
  const columns = Math.min(width, MOST_COLUMNS);
  const head =
    `${farm}: ${count(workers, "worker")}, ${requests} requests within ${formatDuration(makespanMs)} (${traffic}), ` +
    `seed ${seed}. On time: the first token within ${formatDuration(targetMs)}. Virtual time, the policies that run live.`;
  const nobodys = someOf(unknown.map(({ name, requests: asked }) => `${plainText(name)} (${asked} requests)`));
  const all = unknown.length === 0 ? notes : [...notes, `no worker has ${nobodys}`];
  return [...wrap(head, columns), ...all.flatMap((note) => wrap(`note: ${note}`, columns))];
}

const FIGURES: readonly [string, (summary: Summary) => string][] = [
  ["on time", ({ onTime }) => percent(onTime)],
  ["missed", ({ requests, served }) => String(requests - served)],
  ["wait p50", ({ wait }) => formatDuration(wait.p50)],
  ["p90", ({ wait }) => formatDuration(wait.p90)],
  ["p99", ({ wait }) => formatDuration(wait.p99)],
  ["longest", ({ wait }) => formatDuration(wait.longest)],
  ["first token p50", ({ ttft }) => formatDuration(ttft.p50)],
  ["p90", ({ ttft }) => formatDuration(ttft.p90)],
  ["p99", ({ ttft }) => formatDuration(ttft.p99)],
  ["swaps", ({ loads }) => String(loads)],
  ["loading", ({ loadSeconds }) => formatDuration(1_000 * loadSeconds)],
  ["makespan", ({ makespanMs }) => formatDuration(makespanMs)],
];

function runLines({ configured, baselines, whatIf }: Simulation, width: number): string[] {
  const runs = [{ name: "as configured", summary: configured }, ...baselines, ...(whatIf === null ? [] : [whatIf])];
  const rows = runs.map(({ name, summary }) => [name, ...FIGURES.map(([, figure]) => figure(summary))]);
  if (whatIf !== null) rows.push(["the difference", ...differences(configured, whatIf.summary)]);
  return table(["", ...FIGURES.map(([heading]) => heading)], rows, width);
}

/** In the order of `FIGURES`. */
function differences(before: Summary, after: Summary): string[] {
  const time = (figure: (summary: Summary) => number) => signed(figure(after) - figure(before), formatDuration);
  const points = (100 * (after.onTime - before.onTime)).toFixed(1);
  return [
    `${after.onTime >= before.onTime ? "+" : ""}${points} points`,
    signed(after.requests - after.served - (before.requests - before.served), String),
    time(({ wait }) => wait.p50),
    time(({ wait }) => wait.p90),
    time(({ wait }) => wait.p99),
    time(({ wait }) => wait.longest),
    time(({ ttft }) => ttft.p50),
    time(({ ttft }) => ttft.p90),
    time(({ ttft }) => ttft.p99),
    signed(after.loads - before.loads, String),
    time(({ loadSeconds }) => 1_000 * loadSeconds),
    time(({ makespanMs }) => makespanMs),
  ];
}

function workerLines({ workers }: Summary, width: number): string[] {
  const headings = [
    "worker",
    "served",
    "swaps",
    "loading",
    "busy",
    "slots used",
    "longest in queue",
    "promised",
    "used",
  ];
  const rows = workers.map((worker) => [
    worker.name,
    String(worker.served),
    String(worker.loads),
    `${formatDuration(1_000 * worker.loadSeconds)} (${percent(worker.loading)})`,
    percent(worker.busy),
    percent(worker.slotsUsed),
    worker.longestWaitMs === null ? "-" : formatDuration(worker.longestWaitMs),
    worker.promisedMs === null ? "-" : formatDuration(worker.promisedMs),
    worker.ofPromise === null ? "-" : `${percent(worker.ofPromise)} of a promise at most`,
  ]);
  return table(headings, rows, width);
}

function adviceLines(advice: Simulation["advice"], width: number): string[] {
  if (advice.length === 0) return [];
  const helps = advice.filter(({ savedMs }) => savedMs >= LEAST_SAVED_MS).slice(0, MOST_ADVICE);
  if (helps.length === 0) return [`Nothing of ${advice.length} changes that were tried would help.`];
  const rows = helps.map(({ words, kind, savedMs, onTime, loads }, i) => [
    `${i + 1}. ${words}`,
    kind,
    `saves ${formatDuration(savedMs)}`,
    `${percent(onTime)} on time`,
    `${loads} swaps`,
  ]);
  const title = `What would help most, by the time to the first token that it saves on average (${advice.length} changes tried):`;
  return [...wrap(title, Math.min(width, MOST_COLUMNS)), ...table(["change", "", "a request", "", ""], rows, width)];
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function signed(value: number, words: (value: number) => string): string {
  if (value === 0) return "same";
  return `${value < 0 ? "-" : "+"}${words(Math.abs(value))}`;
}
