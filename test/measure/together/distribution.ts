// `npm run measure -- gateways`: 500 callers through three gateways and one Redis, beside one gateway alone; how often
// workers are polled with 1, 3 and 8 gateways.
import { setTimeout as sleep } from "node:timers/promises";
import type { Children } from "../../bench/process/children.ts";
import { aligned } from "../../bench/report/table.ts";
import { until } from "../../harness/until.ts";
import { RedisServer } from "../../../gateway/test/together/redis/redis-server.ts";
import { Callers, quantile } from "./callers.ts";
import { CountingWorker } from "./counting-worker.ts";
import { areTogether, type Farm, startGateways } from "./gateways.ts";

const WEIGHTS = [1, 2, 3, 4];
/** Together fewer than there are callers, so that there is always somebody who waits. */
const CAPS = [30, 60, 90, 120];
const CALLERS = 500;

export async function measureGateways(children: Children, { quick }: { quick: boolean }): Promise<void> {
  const requests = quick ? 3_000 : 10_000;
  const redis = await RedisServer.start();
  try {
    const head = [
      "",
      "gateways",
      "served by each worker",
      "share of each",
      "most at once",
      "failed",
      "p50 ms",
      "p99 ms",
    ];
    const rows: string[][] = [];
    for (const caps of [undefined, CAPS]) {
      for (const count of [1, 3]) {
        const title = caps === undefined ? `weights ${WEIGHTS.join(", ")}` : `caps ${caps.join(", ")}`;
        const farm = { weights: WEIGHTS, ...(caps && { caps }), ...(count > 1 && { redis: redis.url }) };
        rows.push([title, String(count), ...(await serve(children, count, farm, requests))]);
      }
    }
    console.log(`\n${aligned([head, ...rows])}`);
    await measurePolls(children, redis.url, quick ? 8 : 20);
  } finally {
    await redis.end();
  }
}

async function serve(
  children: Children,
  count: number,
  farm: Omit<Farm, "workers">,
  requests: number,
): Promise<string[]> {
  let turn = 0;
  // 200 to 400 ms, the same in every run.
  const workers = await Promise.all(
    WEIGHTS.map((_, i) => CountingWorker.start(`w${i + 1}`, () => 200 + ((turn++ * 7_919) % 200))),
  );
  const gateways = await startGateways(children, count, { ...farm, workers });
  if (count > 1) await until(() => areTogether(gateways), "the gateways hear each other");
  const callers = new Callers(gateways, CALLERS, requests);
  await callers.ended;
  const total = workers.reduce((sum, { served }) => sum + served, 0);
  const took = callers.seen.map(({ sentAt, endedAt }) => endedAt - sentAt);
  await children.endRunning();
  for (const worker of workers) worker.end();
  return [
    workers.map(({ served }) => served).join(", "),
    workers.map(({ served }) => `${((100 * served) / total).toFixed(1)} %`).join(", "),
    workers.map(({ most }) => most).join(", "),
    String(callers.seen.filter(({ good }) => !good).length),
    quantile(took, 0.5).toFixed(0),
    quantile(took, 0.99).toFixed(0),
  ];
}

async function measurePolls(children: Children, redis: string, seconds: number): Promise<void> {
  const rows = [["gateways", "polls of each worker in each second, one asked for"]];
  for (const count of [1, 3, 8]) {
    const workers = await Promise.all(WEIGHTS.map((_, i) => CountingWorker.start(`w${i + 1}`, () => 1)));
    const gateways = await startGateways(children, count, {
      workers,
      interval: 1,
      ...(count > 1 && { redis }),
    });
    if (count > 1) await until(() => areTogether(gateways), "the gateways hear each other");
    // Each has asked every worker once at its start, and taken its pace from there.
    await sleep(3_000);
    for (const worker of workers) worker.restartCounts();
    await sleep(seconds * 1_000);
    rows.push([String(count), workers.map(({ polls }) => (polls / seconds).toFixed(2)).join(", ")]);
    await children.endRunning();
    for (const worker of workers) worker.end();
  }
  console.log(`\n${aligned(rows)}`);
}
