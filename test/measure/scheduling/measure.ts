// `npm run measure -- scheduling`: who is on time by which order, in virtual time.
import { performance } from "node:perf_hooks";
import { byDeadline, LstImh } from "@farmgate/gateway/policies";
import { seededRandom } from "@farmgate/shared";
import { mostOnTime } from "../../../gateway/test/scheduling/exact.ts";
import type { Children } from "../../bench/process/children.ts";
import { aligned } from "../../bench/report/table.ts";
import { type Request, requestsOf, SHAPES } from "./instances.ts";
import { LST_IMH, type Order, ORDERS } from "./orders.ts";
import { play, type Played } from "./play.ts";

/** Random instances of the problem, over all shapes together. */
const INSTANCES = 1_000;
const SMALL = 1_000;

export async function measureScheduling(_: Children, { quick }: { quick: boolean }): Promise<void> {
  const seeds = Math.ceil(INSTANCES / SHAPES.length / (quick ? 10 : 1));
  console.log(`On time, % of ${SHAPES.length * seeds} instances of 80 requests:\n${aligned(onTimeRows(seeds))}`);
  console.log(`\nOf the best possible, ${quick ? SMALL / 10 : SMALL} small instances:\n${aligned(exactRows(quick))}`);
  console.log(`\nBy length, long tail at 2x, four instances, %:\n${aligned(lengthRows(seeds))}`);
  console.log(`\n10,000 jobs, 100 instances, one round:\n${aligned(timeRows())}`);
}

function onTimeRows(seeds: number): string[][] {
  const sums = new Map<string, number>();
  const rows = SHAPES.map((shape) => {
    const cells = ORDERS.map((order) => {
      let onTime = 0;
      let all = 0;
      for (let seed = 1; seed <= seeds; seed++) {
        const played = play(requestsOf(shape, seed), shape.instances, order);
        onTime += played.filter(({ end }) => end === "on time").length;
        all += played.length;
      }
      sums.set(order.name, (sums.get(order.name) ?? 0) + onTime / all / SHAPES.length);
      return percent(onTime / all);
    });
    return [shape.name, ...cells];
  });
  const means = ORDERS.map(({ name }) => percent(sums.get(name) ?? 0));
  return [["instances, lengths, load", ...ORDERS.map(({ name }) => name)], ...rows, ["mean", ...means]];
}

/** All of them there at once, so that the best is known: seven requests for up to three instances that are busy yet. */
function exactRows(quick: boolean): string[][] {
  const ratios = { plan: [] as number[], played: [] as number[] };
  const lst = new LstImh();
  for (let seed = 1; seed <= (quick ? SMALL / 10 : SMALL); seed++) {
    const random = seededRandom(seed);
    const instances = Array.from({ length: 1 + (seed % 3) }, () => ({
      availableAt: 0,
      overhead: 0,
      slowness: 1,
    }));
    const jobs: Request[] = Array.from({ length: 7 }, () => {
      const processing = 1 + Math.floor(12 * random());
      return { arrivedAt: 0, processing, deadline: processing + Math.floor((24 * random()) / instances.length) };
    }).sort(byDeadline);
    const best = mostOnTime(jobs, instances);
    if (best === 0) continue;
    const played = play(jobs, instances.length, LST_IMH).filter(({ end }) => end === "on time").length;
    for (const instance of instances) instance.availableAt = Math.floor(10 * random());
    const bestThen = mostOnTime(jobs, instances);
    lst.assign(jobs, instances, 0);
    ratios.played.push(played / best);
    if (bestThen > 0) ratios.plan.push(lst.onTime / bestThen);
  }
  const row = (name: string, all: number[]) => {
    const mean = all.reduce((sum, ratio) => sum + ratio, 0) / all.length;
    const whole = all.filter((ratio) => ratio === 1).length / all.length;
    return [name, mean.toFixed(3), Math.min(...all).toFixed(3), `${percent(whole)} %`];
  };
  return [
    ["", "mean", "least", "as good as the best"],
    row("the plan, instances busy for different times", ratios.plan),
    row("served to the end, instances free", ratios.played),
  ];
}

function lengthRows(seeds: number): string[][] {
  const shape = SHAPES.find(
    (one) => one.instances === 4 && one.load === 2 && one.lengths === "long tail" && !one.atOnce,
  );
  if (shape === undefined) throw new Error("there is no such shape");
  const rows: string[][] = [["", "length", "on time", "on time, relaxed", "late", "refused", "refused after, ms"]];
  const cases: [string, Order, boolean][] = ORDERS.filter(({ name }) =>
    ["LST-IMH", "earliest deadline", "shortest job", "arrival, all served"].includes(name),
  ).map((order) => [order.name, order, false]);
  for (const [name, order, relax] of [...cases, ["LST-IMH, queued again", LST_IMH, true] as const]) {
    const quartiles: Played[][] = [[], [], [], []];
    for (let seed = 1; seed <= seeds; seed++) {
      const played = play(requestsOf(shape, seed), shape.instances, order, relax);
      played.sort((a, b) => a.request.processing - b.request.processing);
      for (const [rank, one] of played.entries()) quartiles[Math.floor((4 * rank) / played.length)]?.push(one);
    }
    for (const [at, quartile] of quartiles.entries()) rows.push([name, `quartile ${at + 1}`, ...shares(quartile)]);
    rows.push([name, "all", ...shares(quartiles.flat())]);
  }
  return rows;
}

function shares(played: readonly Played[]): string[] {
  const ends = (["on time", "relaxed", "late", "refused"] as const).map((end) =>
    percent(played.filter((one) => one.end === end).length / played.length),
  );
  const refused = played.filter(({ end }) => end === "refused").map(({ afterMs }) => afterMs);
  const mean = refused.reduce((sum, ms) => sum + ms, 0) / refused.length;
  return [...ends, refused.length === 0 ? "-" : mean.toFixed(0)];
}

function timeRows(): string[][] {
  const rows = [["", "ms", "on time by the plan"]];
  for (const [name, load] of [
    ["half of what they can do", 0.5],
    ["twice as much", 2],
    ["ten times as much", 10],
  ] as const) {
    const random = seededRandom(1);
    const jobs = Array.from({ length: 10_000 }, () => ({ processing: 1 + 1_000 * random(), deadline: 0 }));
    const spanMs = (500 * jobs.length) / 100 / load;
    const waiting = jobs
      .map(({ processing }) => ({ processing, deadline: processing + 500 + spanMs * random() }))
      .sort(byDeadline);
    const instances = Array.from({ length: 100 }, (_, at) => ({ availableAt: 5 * at, overhead: 0, slowness: 1 }));
    const lst = new LstImh();
    lst.assign(waiting, instances, 0);
    const times = Array.from({ length: 9 }, () => {
      const from = performance.now();
      lst.assign(waiting, instances, 0);
      return performance.now() - from;
    }).sort((a, b) => a - b);
    rows.push([name, (times[4] ?? 0).toFixed(1), String(lst.onTime)]);
  }
  return rows;
}

function percent(share: number): string {
  return (100 * share).toFixed(1);
}
