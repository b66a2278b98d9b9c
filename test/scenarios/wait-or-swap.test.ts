import { afterEach, describe, expect, it } from "vitest";
import { type Asked, askChat } from "../harness/ask.ts";
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

/** `busy` has the model and knows how long its answers take, `idle` has had it and knows how long its load takes. */
async function startTwo(waitOrSwap: boolean) {
  const [busy, idle] = await Promise.all([
    startMachine(cleanup, "busy", [SLOW]),
    startMachine(cleanup, "idle", [SLOW]),
  ]);
  const learn = async () => {
    await busy.order("m", "load");
    await askChat(busy.url, "m", ANSWER).answer;
  };
  await Promise.all([learn(), idle.order("m", "load").then(() => idle.order("m", "unload"))]);
  const workers = { busy: busy.url, idle: idle.url };
  return { busy, idle, ...(await startTestGateway(cleanup, workers, { routing: { waitOrSwap }, sseComments: 0 })) };
}

/** Sends one, and comes back once the gateway's polls have told of it. */
async function askAndShow(url: string, farm: Awaited<ReturnType<typeof startTwo>>["farm"], count: number) {
  const asked = askChat(url, "m", count === 1 ? ANSWER : { max_tokens: 5 });
  await until(async () => {
    const workers = await farm();
    return workers.reduce((sum, { inflight }) => sum + inflight, 0) === count;
  }, `${count} requests are under way`);
  return asked;
}

describe("a warm machine whose slots are taken, and an idle one that would have to load the model", () => {
  it("later requests go where they are answered earlier, and header, log and explain agree", async () => {
    const { gateway, idle, url, farm } = await startTwo(true);
    const first = await askAndShow(url, farm, 1);
    const before = await explained(url, "m");
    const words = (await farmgateSays(url, "explain", "m")).replace(/\s+/g, " ");
    const second = await askAndShow(url, farm, 2);
    const answers = await Promise.all([first.answer, second.answer]);
    expect(answers.map(({ headers }) => headers["x-farmgate-worker"])).toEqual(["busy", "idle"]);
    expect(answers[0]?.headers["x-farmgate-decision"]).toBeUndefined();
    const header = String(answers[1]?.headers["x-farmgate-decision"]);
    const [, waitMs = "", swapMs = ""] = /^swap; wait=(\d+); swap=(\d+)$/.exec(header) ?? [];
    const seconds = answers.map(({ firstByteAt, sentAt }) => ((firstByteAt - sentAt) / 1_000).toFixed(1));
    console.log(`wait-or-swap: ${header}; first bytes after ${seconds.join(" s, ")} s; ${before.weighed?.reason}`);
    expect(Number(waitMs)).toBeGreaterThan(Number(swapMs) + 1_000);
    expect(before).toMatchObject({ decision: { worker: "idle" }, weighed: { decision: "swap", worker: "idle" } });
    expect(words).toMatch(/waiting at busy would take about \S+ m?s, loading on idle about \S+ m?s: idle/);
    expect(Math.abs((before.weighed?.swapMs ?? 0) - Number(swapMs))).toBeLessThan(500);
    const decided = () => logOf(gateway, "request").find((line) => line["decision"] === "swap");
    await until(() => decided() !== undefined, "the log tells");
    expect(decided()).toMatchObject({ worker: "idle", waitMs: Number(waitMs), swapMs: Number(swapMs) });
    expect(await idle.starts()).toEqual(["m", "m"]);
  });

  it("all wait at the warm one where the owner did not ask for it", async () => {
    const { gateway, idle, url, farm } = await startTwo(false);
    const asked: Asked[] = [];
    for (let count = 1; count <= 3; count += 1) asked.push(await askAndShow(url, farm, count));
    expect((await explained(url, "m")).decision.worker).toBe("busy");
    const answers = await Promise.all(asked.map(({ answer }) => answer));
    expect(answers.map(({ headers }) => headers["x-farmgate-worker"])).toEqual(["busy", "busy", "busy"]);
    expect(answers.map(({ headers }) => headers["x-farmgate-decision"])).toEqual([undefined, undefined, undefined]);
    expect(logOf(gateway).filter((line) => "decision" in line)).toEqual([]);
    expect(await idle.starts()).toEqual(["m"]);
  });
});
