import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { completes, type FakeWorker, fakeWorker, hangs } from "../support/fake-worker.ts";
import { agents, chat, configOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

const ON = { routing: { waitOrSwap: true } };

/** A warm worker with one slot that answers when told to, and a cold one; both tell their times. */
async function twoWorkers(): Promise<{ warm: FakeWorker; cold: FakeWorker }> {
  const warm = await fakeWorker({ m: "warm" }, hangs);
  const cold = await fakeWorker({ m: "cold" }, hangs);
  warm.figures = { m: { slots: { total: 1, busy: 0 }, service_ms: 40_000 } };
  cold.figures = { m: { slots: { total: 1, busy: 0 }, service_ms: 5_000, load_ms: 25_000 } };
  return { warm, cold };
}

async function explained(gateway: RunningGateway): Promise<{ weighed: Record<string, unknown> | null }> {
  const answer = await fetch(`${gateway.url}/farm/explain`, { method: "POST", body: '{"model":"m"}' });
  return (await answer.json()) as { weighed: Record<string, unknown> | null };
}

/** Sends a request that stays at the worker. */
async function occupy(gateway: RunningGateway, worker: FakeWorker): Promise<void> {
  const before = worker.asked.length;
  void chat(gateway).catch(() => {});
  await until("it is there", () => worker.asked.length > before);
}

describe("six requests at once for a model that one worker has warm", () => {
  it("are shared with the cold one where waiting takes longer than loading, and each answer tells", async () => {
    const { warm, cold } = await twoWorkers();
    const gateway = await runGateway({ workers: agents({ warm, cold }), ...ON });
    const answers = Array.from({ length: 6 }, () => chat(gateway));
    await until("all are at a worker", () => warm.asked.length + cold.asked.length === 6);
    for (const asked of [...warm.asked, ...cold.asked]) await completes()(asked);
    const told = (await Promise.all(answers)).map(
      ({ headers }) => `${headers.get("x-farmgate-worker")}: ${headers.get("x-farmgate-decision")}`,
    );
    expect(new Set(told)).toEqual(
      new Set([
        "warm: null",
        "cold: swap; wait=40000; swap=25000",
        "cold: swap; wait=40000; swap=30000",
        "warm: wait; wait=40000; swap=35000",
        "cold: swap; wait=80000; swap=35000",
        "cold: swap; wait=80000; swap=40000",
      ]),
    );
  });

  it("all stay with the warm one where that is off", async () => {
    const { warm, cold } = await twoWorkers();
    const gateway = await runGateway({ workers: agents({ warm, cold }) });
    const answers = Array.from({ length: 6 }, () => chat(gateway));
    await until("all are there", () => warm.asked.length === 6);
    for (const asked of warm.asked) await completes()(asked);
    for (const answer of answers) expect((await answer).headers.get("x-farmgate-decision")).toBeNull();
    expect((await explained(gateway)).weighed).toBeNull();
    expect(cold.asked).toHaveLength(0);
  });
});

it("tells what was weighed when asked, by path and by dry run, from the moment that it is switched on", async () => {
  const { warm, cold } = await twoWorkers();
  const file = { workers: agents({ warm, cold }) };
  const gateway = await runGateway(file);
  await occupy(gateway, warm);
  expect((await explained(gateway)).weighed).toBeNull();
  gateway.reload(configOf({ ...file, ...ON }));
  const weighed = { decision: "swap", waitMs: 40_000, swapMs: 25_000, worker: "cold" };
  expect((await explained(gateway)).weighed).toMatchObject(weighed);
  const dry = await chat(gateway, {}, { headers: { "x-farmgate-dry-run": "1" } });
  expect(await dry.json()).toMatchObject({ weighed, decision: { kind: "send", worker: "cold" } });
});

it("goes by the warm worker's own forecast, and by what was sent there since", async () => {
  const { warm, cold } = await twoWorkers();
  const gateway = await runGateway({ workers: agents({ warm, cold }), ...ON });
  await occupy(gateway, warm);
  warm.figures = { m: { ...warm.figures["m"], predicted_wait_ms: 700 } };
  await until("the forecast is read", async () => (await explained(gateway)).weighed?.["waitMs"] === 700);
  expect((await explained(gateway)).weighed).toMatchObject({ decision: "wait", worker: "warm" });
});

it("does not wait at the gateway for a worker at its cap where loading is cheaper", async () => {
  const { warm, cold } = await twoWorkers();
  const gateway = await runGateway({ workers: agents({ warm, cold }, { maxConcurrent: 1 }), ...ON });
  await occupy(gateway, warm);
  cold.answer = completes();
  const answer = await chat(gateway);
  expect(answer.headers.get("x-farmgate-worker")).toBe("cold");
  expect(answer.headers.get("x-farmgate-decision")).toBe("swap; wait=40000; swap=25000");
});

describe("times that no catalogue tells", () => {
  it("of an answer are learned from whoever found a slot free", async () => {
    const { warm, cold } = await twoWorkers();
    warm.figures = { m: { slots: { total: 1, busy: 0 } } };
    const gateway = await runGateway({ workers: agents({ warm, cold }), ...ON });
    await occupy(gateway, warm);
    expect((await explained(gateway)).weighed).toBeNull();
    await completes()(warm.request(0));
    await until("it has ended", async () => (await atWorkers(gateway)) === 0);
    await occupy(gateway, warm);
    expect((await explained(gateway)).weighed).toMatchObject({ decision: "wait", waitMs: expect.any(Number) });
  });

  it("of a load are learned from a request that was sent cold", async () => {
    const { warm, cold } = await twoWorkers();
    cold.figures = {};
    cold.answer = completes();
    const gateway = await runGateway({ workers: agents({ warm, cold }), ...ON });
    const operate = (what: string) => fetch(`${gateway.url}/farm/workers/warm/${what}`, { method: "POST" });
    await operate("drain");
    expect((await chat(gateway)).headers.get("x-farmgate-warmth")).toBe("cold");
    await operate("resume");
    await occupy(gateway, warm);
    await until("the next poll says cold again", async () => (await explained(gateway)).weighed !== null);
    expect((await explained(gateway)).weighed).toMatchObject({ decision: "swap", waitMs: 40_000, worker: "cold" });
  });
});

/** Requests at workers. */
async function atWorkers(gateway: RunningGateway): Promise<number> {
  const { workers } = (await (await fetch(`${gateway.url}/farm/workers`)).json()) as {
    workers: { inflight: number }[];
  };
  return workers.reduce((sum, { inflight }) => sum + inflight, 0);
}
