// `npm run measure -- redis`: what callers notice when Redis is killed, stopped, emptied and started again under load,
// and how long a killed gateway is counted.
import { setTimeout as sleep } from "node:timers/promises";
import type { Children } from "../../bench/process/children.ts";
import { aligned } from "../../bench/report/table.ts";
import { until } from "../../harness/until.ts";
import { RedisServer } from "../../../gateway/test/together/redis/redis-server.ts";
import type { Program } from "../../soak/farm/programs.ts";
import { Callers, quantile } from "./callers.ts";
import { CountingWorker } from "./counting-worker.ts";
import { areTogether, healthOf, startGateways } from "./gateways.ts";

const CAPS = [40, 60, 80, 120];
const CALLERS = 150;
const MOST = 100_000;
/** Each answer takes so long at its worker, in milliseconds. */
const HOLD_MS = 200;

interface Phase {
  title: string;
  /** Does it, and resolves once it is to be over. */
  act: (redis: RedisServer, seconds: number) => Promise<void>;
}

const PHASES: readonly Phase[] = [
  { title: "undisturbed", act: (_redis, seconds) => sleep(seconds * 1_000) },
  {
    title: "killed, started again",
    async act(redis, seconds) {
      await redis.signal("SIGKILL");
      await sleep(seconds * 1_000);
      await redis.restart();
    },
  },
  {
    title: "stopped, continued",
    async act(redis, seconds) {
      await redis.signal("SIGSTOP");
      await sleep(seconds * 1_000);
      await redis.signal("SIGCONT");
    },
  },
  { title: "emptied", act: async (redis) => void (await redis.ask("FLUSHALL")) },
];

export async function measureRedis(children: Children, { quick }: { quick: boolean }): Promise<void> {
  const seconds = quick ? 3 : 10;
  const redis = await RedisServer.start();
  try {
    const workers = await Promise.all(CAPS.map((_, i) => CountingWorker.start(`w${i + 1}`, () => HOLD_MS)));
    const gateways = await startGateways(children, 3, { workers, caps: CAPS, redis: redis.url });
    await until(() => areTogether(gateways), "the gateways hear each other");
    const callers = new Callers(gateways, CALLERS, MOST);
    await sleep(2_000);
    const rows: string[][] = [];
    for (const phase of PHASES) rows.push(await measured(phase, { redis, gateways, callers, workers, seconds }));
    callers.stop();
    await callers.ended;
    const head = [
      "Redis",
      "requests",
      "lost",
      "p50 ms",
      "p99 ms",
      "most ms",
      "told degraded",
      "healed after, ms",
      "most at once",
    ];
    console.log(`\n${aligned([head, ...rows])}\n(caps: ${CAPS.join(", ")}; each answer takes ${HOLD_MS} ms)`);
    for (const worker of workers) worker.end();
    await children.endRunning();
    await measureKilledGateway(children, redis.url);
  } finally {
    await redis.end();
  }
}

interface Scene {
  redis: RedisServer;
  gateways: readonly Program[];
  callers: Callers;
  workers: readonly CountingWorker[];
  seconds: number;
}

async function measured({ title, act }: Phase, scene: Scene): Promise<string[]> {
  const { redis, gateways, callers, workers, seconds } = scene;
  for (const worker of workers) worker.restartCounts();
  const from = performance.now();
  let isDegraded = 0;
  const watching = new AbortController();
  const watch = (async () => {
    while (!watching.signal.aborted) {
      const healths = await Promise.all(gateways.map(healthOf));
      isDegraded = Math.max(isDegraded, healths.filter((one) => one?.status === "degraded").length);
      await sleep(50);
    }
  })();
  await act(redis, seconds);
  const overAt = performance.now();
  watching.abort();
  await watch;
  await until(() => areTogether(gateways), `they hear each other again (${title})`, 30_000);
  const healedMs = performance.now() - overAt;
  await sleep(2_000);
  const to = performance.now();
  const seen = callers.seen.filter(({ sentAt, endedAt }) => endedAt >= from && sentAt <= to);
  const took = seen.map(({ sentAt, endedAt }) => endedAt - sentAt);
  console.error(`measured: ${title}`);
  return [
    title,
    String(seen.length),
    String(seen.filter(({ good }) => !good).length),
    ...[quantile(took, 0.5), quantile(took, 0.99), Math.max(...took)].map((ms) => ms.toFixed(0)),
    `${isDegraded} of ${gateways.length}`,
    healedMs.toFixed(0),
    workers.map(({ most }) => most).join(", "),
  ];
}

/** A hundred requests hang at one gateway, which is killed: how long do the others count them? */
async function measureKilledGateway(children: Children, redis: string): Promise<void> {
  const workers = await Promise.all(CAPS.map((_, i) => CountingWorker.start(`w${i + 1}`, () => 60_000)));
  const gateways = await startGateways(children, 3, { workers, caps: CAPS, redis });
  const [first, second] = gateways as [Program, Program, Program];
  await until(() => areTogether(gateways), "the gateways hear each other");
  const callers = new Callers([first], 100, 100);
  const counted = async () => {
    const answer = await fetch(`${second.url}/farm/workers`);
    const { workers: list } = (await answer.json()) as { workers: { inflight: number }[] };
    return list.reduce((sum, { inflight }) => sum + inflight, 0);
  };
  await until(async () => (await counted()) === 100, "the other counts all of them");
  const killedAt = performance.now();
  first.child.kill("SIGKILL");
  await until(async () => (await counted()) === 0, "nothing of it is counted any more", 30_000);
  console.log(
    `\na gateway killed with 100 requests under way: not counted any more after ${(performance.now() - killedAt).toFixed(0)} ms`,
  );
  await callers.ended;
  await children.endRunning();
  for (const worker of workers) worker.end();
}
