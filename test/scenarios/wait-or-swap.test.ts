import { afterEach, expect, it } from "vitest";
import { askChat } from "../harness/ask.ts";
import { startMachine } from "../harness/command-machine.ts";
import { explained, farmgateSays, logOf } from "../harness/farm-words.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** An answer takes 6 s, and it is the only one at a time on each machine; a load takes about one. */
const SLOW = { name: "m", slots: 1, tokensPerSecond: 10 };
const ANSWER = { max_tokens: 60, seed: 1 };
const decisionOf = (headers: Record<string, unknown>) => [headers["x-farmgate-worker"], headers["x-farmgate-decision"]];

/** `busy` has the model and knows how long its answers take, `idle` has had it and knows how long its load takes. */
async function startTwo() {
  const [busy, idle] = await Promise.all(["busy", "idle"].map((name) => startMachine(cleanup, name, [SLOW])));
  if (busy === undefined || idle === undefined) throw new Error("two machines were started");
  const learn = async () => {
    await busy.order("m", "load");
    await askChat(busy.url, "m", ANSWER).answer;
  };
  await Promise.all([learn(), idle.order("m", "load").then(() => idle.order("m", "unload"))]);
  return { busy, idle, workers: { busy: busy.url, idle: idle.url } };
}

it("a request goes to an idle machine that must load its model where that is sooner, and only where its owner wants that", async () => {
  const { idle, workers } = await startTwo();
  const weighing = await startTestGateway(cleanup, workers, { routing: { waitOrSwap: true }, sseComments: 0 });
  const plain = await startTestGateway(cleanup, workers, { sseComments: 0 });

  const first = askChat(weighing.url, "m", ANSWER);
  await first.firstByte;
  const waiting = [1, 2].map((seed) => askChat(plain.url, "m", { max_tokens: 5, seed }));
  await until(async () => {
    const busy = (await plain.farm()).find(({ name }) => name === "busy");
    return busy?.inflight === 2;
  }, "two wait by way of the plain gateway");
  expect(await explained(plain.url, "m")).toMatchObject({ decision: { worker: "busy" }, weighed: null });

  const before = await explained(weighing.url, "m");
  const words = (await farmgateSays(weighing.url, "explain", "m")).replace(/\s+/g, " ");
  const later = await askChat(weighing.url, "m", { max_tokens: 5 }).answer;
  const header = String(later.headers["x-farmgate-decision"]);
  const [, waitMs = "", swapMs = ""] = /^swap; wait=(\d+); swap=(\d+)$/.exec(header) ?? [];
  const seconds = ((later.firstByteAt - later.sentAt) / 1_000).toFixed(1);
  console.log(`wait-or-swap: ${header}; first byte after ${seconds} s; explain: ${before.weighed?.reason}`);
  expect(later.headers["x-farmgate-worker"]).toBe("idle");
  expect(Number(waitMs)).toBeGreaterThan(Number(swapMs) + 1_000);
  expect(before).toMatchObject({ decision: { worker: "idle" }, weighed: { decision: "swap", worker: "idle" } });
  expect(Math.abs((before.weighed?.swapMs ?? 0) - Number(swapMs))).toBeLessThan(500);
  expect(words).toMatch(/waiting at busy would take about \S+ m?s, loading on idle about \S+ m?s: idle/);
  const decided = () => logOf(weighing.gateway, "request").find((line) => line["decision"] === "swap");
  await until(() => decided() !== undefined, "the log tells");
  expect(decided()).toMatchObject({ worker: "idle", waitMs: Number(waitMs), swapMs: Number(swapMs) });
  expect(await idle.starts()).toEqual(["m", "m"]);

  const answers = await Promise.all([first, ...waiting].map(({ answer }) => answer));
  expect(answers.map(({ headers }) => decisionOf(headers))).toEqual(answers.map(() => ["busy", undefined]));
  expect(logOf(plain.gateway).filter((line) => "decision" in line)).toEqual([]);
});
