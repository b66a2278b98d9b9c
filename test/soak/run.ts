// `npm run soak`: a farm under a long mixed load, some of which a worker breaks. Exit code 1 when anything was lost or
// what the processes take has grown.
import { setTimeout as sleep } from "node:timers/promises";
import { withChildren } from "../bench/process/with-children.ts";
import type { Children } from "../bench/process/children.ts";
import { checksOf, settled } from "./checks.ts";
import { startFarm } from "./farm/start-farm.ts";
import { Callers } from "./load/callers.ts";
import { type Options, parseOptions, usage } from "./options.ts";
import { momentsTable, progressLine, toldText } from "./watch/lines.ts";
import { type Moment, Watcher } from "./watch/watcher.ts";

const LINE_EVERY_MS = 30_000;
/** Until the load has its full size, and the first swaps are over. */
const WARMUP_MS = 15_000;
/** Idle connections to workers are given up within it: agents keep theirs for 75 s. */
const SETTLE_MS = 110_000;

async function soak(children: Children, { minutes, streams, seed }: Options): Promise<void> {
  const farm = await startFarm(children, seed);
  const ms = minutes * 60_000;
  const programs = [farm.gateway, ...farm.agents];
  console.log(`${minutes} minutes, ${streams} requests at once, seed ${seed}`);
  const callers = await Callers.start(children);
  const watcher = new Watcher(programs);
  await watcher.look();
  const before = watcher.at(0);
  callers.begin({ url: farm.gateway.url, streams, seed });
  const began = watcher.ms;
  let shown = 0;
  for (let past = 0; past < ms; past = watcher.ms - began) {
    const due = shown === 0 ? Math.min(WARMUP_MS, ms) : Math.min(shown * LINE_EVERY_MS, ms);
    await Promise.race([sleep(Math.max(0, due - past)), callers.ended]);
    shown += 1;
    console.log(progressLine(watcher.ms - began, callers.tally, watcher.cpuShare(), watcher.at(watcher.ms)));
  }
  const atEnd = watcher.at(watcher.ms);
  const misdeeds = (await (await fetch(`${farm.rogue.url}/misdeeds`)).json()) as Record<string, number>;
  await callers.stop();
  for (const end = watcher.ms + SETTLE_MS; watcher.ms < end; await sleep(1_000)) {
    if (isSettled(before, watcher.at(watcher.ms))) break;
  }
  watcher.stop();
  const after = watcher.at(watcher.ms);
  const { tally } = callers;
  const ended = programs.filter(({ child }) => !children.isRunning(child)).map(({ name }) => name);
  const [start, middle] = [watcher.at(began + Math.min(WARMUP_MS, ms / 4)), watcher.at(began + ms / 2)];
  const moments = [
    ["before", before],
    ["start", start],
    ["middle", middle],
    ["end", atEnd],
    ["after", after],
  ] as const;
  console.log(`\n${momentsTable(moments)}\n`);
  console.log(`whole, by kind: ${JSON.stringify(tally.kinds)}`);
  console.log(`told:${toldText(tally)}`);
  console.log(`misdeeds: ${JSON.stringify(misdeeds)}`);
  for (const example of tally.examples) console.log(`LOST ${example}`);
  const checks = checksOf({
    tally,
    ms,
    samples: watcher.samples,
    before,
    after,
    misdeeds,
    ended,
    missedScrapes: watcher.missed,
  });
  for (const { passed, text } of checks) console.log(`${passed ? "passed" : "FAILED"}  ${text}`);
  const failed = checks.filter(({ passed }) => !passed).length;
  console.log(`\n${checks.length - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = 1;
}

/** As at the beginning; what falls short of it is told by the checks. */
function isSettled(before: Moment, now: Moment): boolean {
  return Object.entries(now).every(([name, sample]) => settled(before[name], sample));
}

await withChildren(() => parseOptions(process.argv.slice(2)), usage, soak);
