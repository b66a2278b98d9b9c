// `npm run measure -- prediction`: a farm of four agents replays bursts in real time, and the simulator says before how
// that ends.
import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { replay, type Spread, spreadOf, summarize, type Trace } from "@farmgate/simulator/virtual";
import type { Children } from "../bench/process/children.ts";
import { aligned } from "../bench/report/table.ts";
import { ask } from "../harness/ask.ts";
import { burstTrace, type Question } from "./burst-trace.ts";
import { type LiveFarm, MODELS, planFarm, simulatedFarm, startFarm, type Variant } from "./prediction-farm.ts";

const MS = { quick: 15_000, whole: 60_000 };
const TARGET_MS = 3_000;
const PATIENCE_MS = 60_000;
const SEED = 1;

const DEADLINE = { scheduling: "deadline", deadlines: { firstByte: `${TARGET_MS}ms` } };
/** Windows that are short beside the run, so that it acts within it. */
const PLACEMENT = { mode: "auto", target: `${TARGET_MS}ms`, window: "4s", stableEvery: "5s", hold: "5s" };
const VARIANTS: readonly Variant[] = [
  { name: "greedy", gateway: {} },
  { name: "deadline", gateway: DEADLINE },
  { name: "placement: auto", gateway: { placement: PLACEMENT } },
  { name: "deadline, placement: auto", gateway: { ...DEADLINE, placement: PLACEMENT } },
];

/** What was seen, or predicted. */
interface Seen {
  /** Milliseconds to the first token of what was answered. */
  first: Spread;
  missed: number;
  onTime: number;
  loads: number;
  lastEndMs: number;
}

export async function measurePrediction(children: Children, { quick }: { quick: boolean }): Promise<void> {
  const { trace, questions } = burstTrace(MODELS, quick ? MS.quick : MS.whole, SEED);
  console.log(`${questions.length} requests, bursts of ${MODELS.join(", ")}, on time within ${TARGET_MS / 1_000} s`);
  for (const variant of VARIANTS) {
    const plan = await planFarm(variant);
    const predicted = predict(plan, trace);
    const farm = await startFarm(children, plan);
    const [before = 0] = loadavg();
    const seen = await live(farm, questions);
    const [after = 0] = loadavg();
    await children.endRunning();
    console.log(`\nload average ${before.toFixed(1)} at the start, ${after.toFixed(1)} at the end`);
    console.log(aligned(rows(variant.name, seen, predicted)));
  }
}

function predict(plan: Parameters<typeof simulatedFarm>[0], trace: Trace): Seen {
  const farm = simulatedFarm(plan);
  const settings = { seed: SEED, callerTimeoutMs: PATIENCE_MS, targetMs: TARGET_MS };
  const run = replay(farm, trace, settings);
  const { ttft, onTime, loads, requests, served } = summarize(farm, trace, run, settings);
  return { first: ttft, missed: requests - served, onTime, loads, lastEndMs: run.endedAt };
}

/** Asks each question at its time, whatever became of those before. */
async function live(farm: LiveFarm, questions: readonly Question[]): Promise<Seen> {
  const before = await farm.loads();
  const began = performance.now();
  const firstMs: number[] = [];
  let missed = 0;
  let lastEndMs = 0;
  const answers: Promise<void>[] = [];
  for (const { at, body } of questions) {
    await sleep(Math.max(0, began + at - performance.now()));
    const asked = ask(`${farm.gateway.url}/v1/chat/completions`, body);
    const leave = setTimeout(asked.leave, PATIENCE_MS);
    answers.push(
      asked.answer.then(({ status, complete, firstByteAt, endedAt }) => {
        clearTimeout(leave);
        lastEndMs = Math.max(lastEndMs, endedAt - began);
        if (status === 200 && complete) firstMs.push(firstByteAt - began - at);
        else missed += 1;
      }),
    );
  }
  await Promise.all(answers);
  const onTime = firstMs.filter((ms) => ms <= TARGET_MS).length / questions.length;
  return { first: spreadOf(firstMs), missed, onTime, loads: (await farm.loads()) - before, lastEndMs };
}

function rows(name: string, seen: Seen, predicted: Seen): string[][] {
  const figures: [string, (seen: Seen) => number, number][] = [
    ["first token: p50, s", ({ first }) => first.p50 / 1_000, 2],
    ["... p90", ({ first }) => first.p90 / 1_000, 2],
    ["... p99", ({ first }) => first.p99 / 1_000, 2],
    ["... mean", ({ first }) => first.mean / 1_000, 2],
    ["on time, %", ({ onTime }) => 100 * onTime, 1],
    ["not answered", ({ missed }) => missed, 0],
    ["loads", ({ loads }) => loads, 0],
    ["last answer, s", ({ lastEndMs }) => lastEndMs / 1_000, 1],
  ];
  const lines = figures.map(([figure, of, digits]) => {
    const real = of(seen);
    const told = of(predicted);
    const share = real === 0 ? "" : ` (${told >= real ? "+" : ""}${((100 * (told - real)) / real).toFixed(1)} %)`;
    return [figure, real.toFixed(digits), told.toFixed(digits), `${(told - real).toFixed(digits)}${share}`];
  });
  return [[name, "real time", "predicted", "error"], ...lines];
}
