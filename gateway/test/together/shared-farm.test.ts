import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { type FakeWorker, fakeWorker, refuses } from "../support/fake-worker.ts";
import { agents, chat, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";
import { testRoom } from "./room-hub.ts";

/** Gateways that act as one over these workers; `join` starts a further one. */
function together(workers: Record<string, FakeWorker>, more: Record<string, unknown> = {}) {
  const room = testRoom();
  let count = 0;
  const join = () => {
    count += 1;
    return runGateway({ workers: agents(workers), ...more }, { hub: room.hub(`gateway-${count}`) });
  };
  return { room, join };
}

type Told = Record<string, unknown>;
const get = async (gateway: RunningGateway, path: string, key?: string): Promise<Told> => {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return (await (await fetch(`${gateway.url}${path}`, { headers })).json()) as Told;
};
const workerOf = async (gateway: RunningGateway) => ((await get(gateway, "/farm/workers"))["workers"] as Told[])[0];
const stateOf = async (gateway: RunningGateway) => (await workerOf(gateway))?.["state"];
const order = (gateway: RunningGateway, path: string) => fetch(`${gateway.url}${path}`, { method: "POST" });

const KEYS = [
  { name: "root", key: "root-key", admin: true },
  { name: "ann", key: "ann-key" },
  { name: "bob", key: "bob-key" },
];

describe("gateways that act as one", () => {
  it("put a model aside at all of them once it fails at one", async () => {
    const bad = await fakeWorker({ m: "warm" }, refuses(500, {}));
    const good = await fakeWorker({ m: "cold" });
    const { join } = together({ bad, good });
    const [one, other] = [await join(), await join()];
    await chat(other);
    for (let i = 0; i < 2; i += 1) await chat(one);
    const aside = async () => ((await workerOf(other))?.["models"] as Told[] | undefined)?.[0]?.["aside"];
    await until("it is aside at the other", async () => (await aside()) !== null);
    const answer = await chat(other);
    expect([answer.status, answer.headers.get("x-farmgate-worker")]).toEqual([200, "good"]);
    expect(bad.asked).toHaveLength(3);
  });

  it("hold a drain that was ordered at one, also at one that starts later, and end it wherever it is ended", async () => {
    const worker = await fakeWorker({ m: "warm" });
    const { join } = together({ worker });
    const [one, two] = [await join(), await join()];
    expect((await order(one, "/farm/workers/worker/drain")).status).toBe(200);
    await until("it drains at the other", async () => (await stateOf(two)) === "draining");
    const three = await join();
    expect((await chat(three)).status).toBe(503);
    expect(await stateOf(three)).toBe("draining");
    await order(three, "/farm/workers/worker/resume");
    for (const gateway of [one, two]) {
      await until("it is back", async () => (await stateOf(gateway)) === "healthy");
    }
  });

  it("hear of a drain that was ordered while they could not hear each other", async () => {
    const worker = await fakeWorker({ m: "warm" });
    const { room, join } = together({ worker });
    const [one, two] = [await join(), await join()];
    await chat(two);
    room.away(true);
    await order(one, "/farm/workers/worker/drain");
    expect(await stateOf(two)).toBe("healthy");
    room.away(false);
    await until("it drains at the other", async () => (await stateOf(two)) === "draining");
  });

  it("tell of each other's requests, and end them for who may", async () => {
    const worker = await fakeWorker({ m: "warm" }, () => {});
    const { join } = together({ worker }, { keys: KEYS });
    const [one, two] = [await join(), await join()];
    const answer = chat(one, {}, { headers: { authorization: "Bearer ann-key", "x-request-id": "req-ann" } });
    await until("it is under way", () => worker.asked.length === 1);
    const seenBy = async (key: string) => (await get(two, "/farm/requests", key))["requests"] as Told[];
    expect(await seenBy("bob-key")).toEqual([]);
    expect(await seenBy("ann-key")).toMatchObject([{ id: "req-ann", caller: "ann", gateway: "gateway-1" }]);
    expect(await seenBy("root-key")).toHaveLength(1);
    const cancel = async (gateway: RunningGateway, key: string, id = "req-ann") => {
      const init = { method: "DELETE", headers: { authorization: `Bearer ${key}` } };
      return (await fetch(`${gateway.url}/farm/requests/${id}`, init)).status;
    };
    expect([await cancel(two, "bob-key"), await cancel(two, "root-key", "nobody")]).toEqual([404, 404]);
    expect(await cancel(two, "ann-key")).toBe(200);
    expect((await answer).status).toBe(499);
    expect(await cancel(two, "ann-key")).toBe(404);
  });

  it("send the next turn of a conversation to the worker that answered the last one at another", async () => {
    const [a, b] = [await fakeWorker({ m: "warm" }), await fakeWorker({ m: "warm" })];
    const { join } = together({ a, b });
    const [one, two] = [await join(), await join()];
    const ask = async (gateway: RunningGateway, messages: object[]) =>
      (await chat(gateway, { messages })).headers.get("x-farmgate-worker");
    await ask(two, []);
    const user = (content: string) => ({ role: "user", content });
    const homes: [string, string | null][] = [];
    for (const topic of ["one", "two", "three", "four", "five", "six"]) {
      homes.push([topic, await ask(one, [user(topic)])]);
    }
    expect(new Set(homes.map(([, home]) => home))).toEqual(new Set(["a", "b"]));
    const nextTurn = (topic: string) => [user(topic), { role: "assistant", content: "hello" }, user("more")];
    const isKnown = async (topic: string) => {
      const dry = await chat(two, { messages: nextTurn(topic) }, { headers: { "x-farmgate-dry-run": "1" } });
      const { ranked } = (await dry.json()) as { ranked: { reason: string }[] };
      return (ranked[0]?.reason ?? "").includes("it answered this conversation before");
    };
    for (const [topic] of homes) await until("the news are there", () => isKnown(topic));
    for (const [topic, home] of homes) expect(await ask(two, nextTurn(topic))).toBe(home);
  });

  it("order loads at one of them, and at the next one when that goes", async () => {
    const worker = await fakeWorker({ m: "cold" });
    const { join } = together({ worker }, { models: { keepWarm: { m: 1 } } });
    const [one, two] = [await join(), await join()];
    for (const gateway of [one, two]) await (await chat(gateway)).text();
    await until("it is warm", () => worker.models["m"] === "warm");
    expect(worker.ordered).toHaveLength(1);
    const orderer = async (gateway: RunningGateway) =>
      ((await get(gateway, "/farm/placement"))["placement"] as Told)["orders_come_from"];
    const [holder, next] = (await orderer(one)) === "this gateway" ? [one, two] : [two, one];
    expect([await orderer(holder), await orderer(next)]).toEqual(["this gateway", "another gateway"]);
    await holder.close();
    await until("the other orders now", async () => (await orderer(next)) === "this gateway");
    worker.models["m"] = "cold";
    await until("it is ordered again", () => worker.ordered.length === 2);
    const [first, second] = worker.orderHeaders.map((headers) => Number(headers["x-farmgate-fence"]));
    expect(first).toBeGreaterThan(0);
    expect(second).toBeGreaterThan(first ?? Number.NaN);
  });
});
