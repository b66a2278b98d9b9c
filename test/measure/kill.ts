// `npm run measure -- kill`: one of three workers dies under load, by SIGKILL or by a stop, and comes back.
import { setTimeout as sleep } from "node:timers/promises";
import type { Children } from "../bench/process/children.ts";
import { aligned } from "../bench/report/table.ts";
import type { Answer } from "../harness/ask.ts";
import { freePorts } from "../harness/free-ports.ts";
import { answers, type Program, startEngine, startProgram } from "../soak/farm/programs.ts";
import { type Fall, fallOf, firstRoutedThere, lastRoutedThere, type Seen, waitedForReturn } from "./kill-figures.ts";
import { OpenLoop } from "./open-loop.ts";

const NAMES = ["one", "two", "three"];
/** The one that dies. */
const DYING = "two";
const ENGINE = "--models m --loaded m --slots 64 --tokens-per-second 40 --prompt-speed 0";
/** An answer takes a second: as many are under way. */
const TOKENS = 40;
const PER_SECOND = 50;
/** Requests that are counted: sent in so long, in the middle of which the worker dies. */
const COUNTED = 200;
const MOST = 600;

interface Case {
  how: "SIGKILL" | "SIGSTOP";
  /** Seconds between two polls. */
  interval: number;
}

const CASES: readonly Case[] = [
  { how: "SIGKILL", interval: 5 },
  { how: "SIGKILL", interval: 1 },
  { how: "SIGSTOP", interval: 5 },
  { how: "SIGSTOP", interval: 1 },
];

interface Outcome extends Fall {
  stoppedRoutingMs: number;
  routedAgainMs: number;
  waited: number;
  notSent: number;
}

/** `quick`: one case of each kind, with quick polls. */
export async function measureKill(children: Children, { quick }: { quick: boolean }): Promise<void> {
  const rows: string[][] = [];
  for (const one of CASES.filter(({ interval }) => !quick || interval === 1)) {
    const outcome = await run(children, one);
    rows.push([`${one.how}, polls each ${one.interval} s`, ...cellsOf(outcome)]);
    console.error(`measured: ${rows.at(-1)?.join(", ")}`);
  }
  const head = ["", "requests", "whole", "of them by another", "lost before a byte", "cut, told", "cut, not told"];
  console.log(
    `\n${aligned([[...head, "last sent there, ms", "first sent there again, ms", "of all, waited for its return"], ...rows])}`,
  );
}

function cellsOf({
  requests,
  whole,
  moved,
  lostBefore,
  cutTold,
  cutUntold,
  stoppedRoutingMs,
  routedAgainMs,
  waited,
}: Outcome) {
  const times = [stoppedRoutingMs, routedAgainMs].map(Math.round);
  return [requests, whole, moved, lostBefore, cutTold, cutUntold, ...times, waited].map(String);
}

async function run(children: Children, { how, interval }: Case): Promise<Outcome> {
  const [gatewayPort = 0, ...ports] = await freePorts(4);
  const engines = await Promise.all(NAMES.map((name, i) => startEngine(children, name, ports[i] ?? 0, ENGINE)));
  const gateway = await startProgram(children, "gateway", "gateway", {
    listen: { port: gatewayPort },
    health: { interval: `${interval}s` },
    workers: NAMES.map((name, i) => ({ name, url: `http://127.0.0.1:${ports[i]}`, engine: "llama-server" })),
  } as { listen: { port: number } });
  const dying = engines[NAMES.indexOf(DYING)];
  if (dying === undefined) throw new Error("no worker is to die");
  const seen: Seen[] = [];
  const loop = new OpenLoop({
    url: gateway.url,
    perSecond: PER_SECOND,
    most: MOST,
    body: (place) => bodyOf(place),
    onAnswer: (answer, place) => (seen[place] = seenOf(answer, place)),
  });
  const countedMs = (COUNTED / PER_SECOND) * 1_000;
  await sleep(2_000);
  const countFrom = loop.sent;
  await sleep(countedMs / 2);
  const diedAt = performance.now();
  dying.child.kill(how);
  await sleep(countedMs / 2);
  // Longer than it takes until its silence is noticed.
  await sleep(how === "SIGSTOP" ? interval * 4_000 + 10_000 : interval * 1_500);
  const orderedAt = performance.now();
  const backAt = await comeBack(children, dying, ports[NAMES.indexOf(DYING)] ?? 0, how);
  await sleep(interval * 2_000 + 2_000);
  await loop.stop(20_000);
  const counted = Array.from({ length: COUNTED }, (_, i) => seen[countFrom + i] ?? nothingCame(countFrom + i));
  const all = seen.filter((one) => one !== undefined);
  await children.endRunning();
  return {
    ...fallOf(counted),
    stoppedRoutingMs: lastRoutedThere(all, DYING, diedAt, orderedAt),
    routedAgainMs: firstRoutedThere(all, DYING, backAt),
    waited: waitedForReturn(all, DYING, orderedAt),
    notSent: loop.notSent,
  };
}

/** Resolves with the moment from which it answers. */
async function comeBack(children: Children, { child, url }: Program, port: number, how: Case["how"]): Promise<number> {
  if (how === "SIGKILL") await startEngine(children, DYING, port, ENGINE);
  else child.kill("SIGCONT");
  return how === "SIGKILL" ? performance.now() : await answers(`${url}/health`);
}

/** Half of them are streamed. */
function bodyOf(place: number): Record<string, unknown> {
  const messages = [{ role: "user", content: `question ${place}` }];
  return { model: "m", messages, max_tokens: TOKENS, stream: place % 2 === 0 };
}

function seenOf({ sentAt, firstByteAt, endedAt, status, headers, body, complete }: Answer, place: number): Seen {
  const isStream = place % 2 === 0;
  const ended = isStream ? body.includes("data: [DONE]") : body.endsWith("}");
  return {
    sentAt,
    firstByteAt,
    endedAt,
    status,
    worker: String(headers["x-farmgate-worker"] ?? ""),
    attempts: Number(headers["x-farmgate-attempts"] ?? 0),
    whole: status === 200 && complete && ended && !body.includes('"error"'),
    told: body.includes('"error"'),
  };
}

function nothingCame(place: number): Seen {
  return {
    sentAt: place,
    firstByteAt: Number.NaN,
    endedAt: Number.NaN,
    status: 0,
    worker: "",
    attempts: 0,
    whole: false,
    told: false,
  };
}
