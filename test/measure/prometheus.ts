// `npm run measure -- prometheus`: a real Prometheus over a running farm; each query of the dashboard and each rule is put
// to it, and one that fails or finds nothing is a failure. With `--pictures DIR` the dashboard is drawn from the answers.
import { setTimeout as sleep } from "node:timers/promises";
import type { Children } from "../bench/process/children.ts";
import { aligned } from "../bench/report/table.ts";
import { REDIS_SERVER, RedisServer } from "../../gateway/test/together/redis/redis-server.ts";
import { evaluate, sampleOf } from "./watched/evaluate.ts";
import { startWatchedFarm } from "./watched/farm.ts";
import { drive } from "./watched/load.ts";
import { pageOf } from "./watched/pictures/page.ts";
import { takePictures } from "./watched/pictures/take-pictures.ts";

/** How long the farm is asked. */
const SECONDS = 40;
/** For pictures, which should show a course. */
const PICTURED_SECONDS = 90;

interface Options {
  quick: boolean;
  /** The folder for pictures. */
  pictures: string | null;
}

export async function measurePrometheus(children: Children, options: Options): Promise<void> {
  const redis = REDIS_SERVER === undefined ? null : await RedisServer.start();
  if (redis === null) console.error("one gateway instead of two: redis-server is not installed");
  try {
    await measureWith(children, redis?.url ?? null, options);
  } finally {
    await redis?.end();
  }
}

async function measureWith(children: Children, redis: string | null, { quick, pictures }: Options): Promise<void> {
  const seconds = quick ? 20 : pictures === null ? SECONDS : PICTURED_SECONDS;
  const farm = await startWatchedFarm(children, redis);
  console.error(`measured for ${seconds} s`);
  const statuses = await drive(farm.gateways, seconds);
  // Two more scrapes, and the rules after them.
  await sleep(2_500);
  const now = Math.floor(Date.now() / 1_000);
  const span = { from: now - seconds, to: now };
  const results = await evaluate(farm.prometheus, span, redis === null);
  const asked = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`);
  console.log(`\nrequests: ${asked.join(", ")}\n`);
  const rows = results.map(({ from, series, fault }) => [
    from,
    String(series.length),
    fault ?? sampleOf(series) ?? "-",
  ]);
  console.log(aligned([["query", "series", "one of them"], ...rows]));
  const faults = results.filter(({ fault }) => fault !== null);
  console.log(`\n${results.length} queries, ${faults.length} failed`);
  await children.endRunning();
  if (pictures !== null) await takePictures(pageOf(results, span), pictures);
  if (faults.length > 0) {
    throw new Error(faults.map(({ from, fault, expr }) => `${from}: ${fault ?? ""}\n  ${expr}`).join("\n"));
  }
}
