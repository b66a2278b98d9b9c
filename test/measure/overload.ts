// `npm run measure -- overload`: a farm at its capacity, then asked for five times as much by callers who come back when
// they were told to.
import { setTimeout as sleep } from "node:timers/promises";
import type { Children } from "../bench/process/children.ts";
import { residentKb } from "../bench/process/proc-stat.ts";
import { median, percentile } from "../bench/report/median.ts";
import { aligned } from "../bench/report/table.ts";
import type { Answer } from "../harness/ask.ts";
import { CAPACITY, type CapacityFarm, startAgent, startEngines, TOKENS } from "./capacity-farm.ts";
import { OpenLoop } from "./open-loop.ts";
import type { ProbeReport } from "./probe/main.ts";
import { type Person, returnsOf } from "./returns.ts";

const TIMES = 5;
/** What is asked for first, of the capacity. */
const SHARE = 0.95;
const AT_CAPACITY_MS = 20_000;
const WARMUP_MS = 3_000;
const MOST_SOCKETS = 2_000;
const CONTROL = ["/livez", "/health", "/metrics", "/v1/models", "/farm/workers", "/farm/requests"];

export async function measureOverload(children: Children, { seconds }: { seconds: number }): Promise<void> {
  const farms = { "two engines": startEngines, "an agent": startAgent };
  for (const [name, start] of Object.entries(farms)) {
    const farm = await start(children);
    await sleep(2_000);
    const rows = await measure(children, farm, seconds * 1_000);
    console.log(`\n${aligned([[name, ""], ...rows.rows])}\n\n${rows.control}`);
    await children.endRunning();
  }
}

async function measure(children: Children, farm: CapacityFarm, ms: number) {
  const { gateway, agent } = farm;
  const calm = await load(gateway.url, CAPACITY * SHARE, Math.min(ms, AT_CAPACITY_MS));
  const urls = [...CONTROL.map((path) => gateway.url + path), ...(agent === null ? [] : [`${agent.url}/catalog`])];
  const probe = children.fork(new URL("./probe/main.ts", import.meta.url), urls);
  await children.message(probe);
  const busy = await load(gateway.url, CAPACITY * TIMES, ms);
  const report = children.message(probe) as Promise<ProbeReport>;
  probe.send("stop");
  const returns = returnsOf(busy.people, busy.acceptedAt);
  const s = (value: number) => value.toFixed(2);
  const rows = [
    [`asked for at capacity, then at ${TIMES}x, a second`, `${CAPACITY * SHARE}, ${CAPACITY * TIMES}`],
    ["answered at capacity (G1), a second", s(calm.goodput)],
    [`answered at ${TIMES}x (G2), a second`, s(busy.goodput)],
    ["G2 / G1", s(busy.goodput / calm.goodput)],
    [
      "time of an answer at capacity: median, p99, s",
      `${s(median(calm.tookMs) / 1e3)}, ${s(percentile(calm.tookMs, 0.99) / 1e3)}`,
    ],
    [`... at ${TIMES}x`, `${s(median(busy.tookMs) / 1e3)}, ${s(percentile(busy.tookMs, 0.99) / 1e3)}`],
    ["other ends", JSON.stringify(busy.ends)],
    ["callers refused; without retry-after", `${returns.refused}; ${returns.untold}`],
    ["told to wait: median, p90, s", `${s(returns.toldMedian)}, ${s(returns.toldP90)}`],
    ["waited until served: median, p90, s", `${s(returns.realMedian)}, ${s(returns.realP90)}`],
    ["served at their first return", `${(returns.atFirstReturn * 100).toFixed(0)} %`],
    ["came back and were not served by the end", String(returns.notYet)],
    ["from a refusal until any new call was taken: median, s", s(returns.anyoneMedian)],
    ["not sent, for want of sockets", String(busy.notSent)],
    ["memory of the gateway after it, MB", (residentKb(gateway.pid) / 1_024).toFixed(0)],
  ];
  return { rows, control: controlTable(await report) };
}

function controlTable({ ms, failures }: ProbeReport): string {
  const rows = Object.entries(ms).map(([url, times]) => [
    new URL(url).pathname,
    String(times.length),
    ...[median(times), percentile(times, 0.99), Math.max(...times)].map((value) => value.toFixed(1)),
    String(failures[url] ?? 0),
  ]);
  return aligned([["path, meanwhile", "answers", "median, ms", "p99, ms", "longest, ms", "failed"], ...rows]);
}

/** Asks for so much for so long, refused callers coming back as they were told; every call counts as asked for. */
async function load(url: string, perSecond: number, ms: number) {
  const people = new Map<number, Person>();
  const acceptedAt: number[] = [];
  const tookMs: number[] = [];
  const ends: Record<string, number> = {};
  const timers = new Set<NodeJS.Timeout>();
  let isOver = false;
  let answered = 0;
  let isCounted = false;
  const comeBack = (person: Person, seconds: number) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      const place = loop.send();
      person.returns += 1;
      if (place !== null) people.set(place, person);
    }, seconds * 1_000);
    timers.add(timer);
  };
  const onAnswer = (answer: Answer, place: number) => {
    if (answer.status === 200) {
      acceptedAt.push(answer.sentAt);
      if (isCounted) answered += 1;
      if (isCounted) tookMs.push(answer.endedAt - answer.sentAt);
      const person = people.get(place);
      if (person !== undefined) person.acceptedAt = answer.sentAt;
      return;
    }
    const end = `${answer.status} ${/"code":"(\w+)"/.exec(answer.body)?.[1] ?? ""}`;
    ends[end] = (ends[end] ?? 0) + 1;
    const toldS = Number(answer.headers["retry-after"] ?? Number.NaN);
    const person = people.get(place) ?? { refusedAt: answer.sentAt, toldS, returns: 0, acceptedAt: Number.NaN };
    all.add(person);
    if (!isOver && !Number.isNaN(toldS)) comeBack(person, toldS);
  };
  const all = new Set<Person>();
  const loop: OpenLoop = new OpenLoop({ url, perSecond, most: MOST_SOCKETS, body: bodyOf, onAnswer });
  await sleep(WARMUP_MS);
  isCounted = true;
  const began = performance.now();
  await sleep(ms);
  isCounted = false;
  const took = performance.now() - began;
  const { notSent } = loop;
  isOver = true;
  for (const timer of timers) clearTimeout(timer);
  await loop.stop(20_000);
  acceptedAt.sort((a, b) => a - b);
  return { goodput: (answered * 1_000) / took, acceptedAt, people: [...all], tookMs, ends, notSent };
}

function bodyOf(place: number): Record<string, unknown> {
  return { model: "m", messages: [{ role: "user", content: `question ${place}` }], max_tokens: TOKENS };
}
