import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { completes, type FakeWorker, fakeWorker } from "../support/fake-worker.ts";
import { agents, chat, configOf, runGateway } from "../support/gateway.ts";
import { until } from "../support/until.ts";

async function farmOf(count: number, models: FakeWorker["models"] = { m: "cold" }): Promise<FakeWorker[]> {
  return Promise.all(Array.from({ length: count }, () => fakeWorker({ ...models })));
}

function named(workers: readonly FakeWorker[]): object[] {
  return agents(Object.fromEntries(workers.map((worker, i) => [`w${i}`, worker])));
}

const warm = (workers: readonly FakeWorker[]) => workers.filter(({ models }) => models["m"] === "warm");
const orders = (workers: readonly FakeWorker[]) => workers.flatMap(({ ordered }) => ordered);

/** The gateway's entry for m as text. */
async function modelOf(gateway: RunningGateway): Promise<string> {
  const { models } = (await (await fetch(`${gateway.url}/farm/models`)).json()) as { models: { id: string }[] };
  return JSON.stringify(models.find(({ id }) => id === "m") ?? null);
}

describe("models.keepWarm", () => {
  it("loads the copies that are missing, by an alias of the owner too, and no more", async () => {
    const workers = await farmOf(3);
    const models = { aliases: { fast: "M" }, keepWarm: { fast: 2 } };
    const gateway = await runGateway({ workers: named(workers), models });
    await until("two are warm", () => warm(workers).length === 2);
    const settled = async () => (await modelOf(gateway)).includes('"warm_copies":2,"keep_warm":2,"note":null');
    await until("the gateway says so", settled);
    expect(orders(workers)).toEqual(["m", "m"]);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    for (const line of ["model_warm_copies", "keep_warm_wanted"])
      expect(metrics).toContain(`farmgate_${line}{model="m"} 2`);
    expect(metrics).toContain('farmgate_keep_warm_missing{model="m"} 0');
  });

  it("orders another copy when a worker is lost, by its refused connections at once", async () => {
    const workers = await farmOf(3);
    const health = { interval: "60s", timeout: "1s" };
    const gateway = await runGateway({ workers: named(workers), models: { keepWarm: { m: 2 } }, health });
    await until("two are ordered", () => warm(workers).length === 2);
    const [lost] = warm(workers);
    lost?.close();
    // No poll comes: the only one to notice is a request, which is served all the same.
    await until("the third is warm", async () => {
      expect((await chat(gateway)).status).toBe(200);
      return workers.every(({ models }) => models["m"] === "warm");
    });
  });

  it("orders another copy when a worker is lost, and nobody asks for anything", async () => {
    const workers = await farmOf(3);
    await runGateway({ workers: named(workers), models: { keepWarm: { m: 2 } } });
    await until("two are warm", () => warm(workers).length === 2);
    warm(workers)[0]?.close();
    await until("the third is warm", () => workers.every(({ models }) => models["m"] === "warm"));
    expect(orders(workers)).toHaveLength(3);
  });

  it("tries another worker when an order fails, and says what is missing and why", async () => {
    const workers = await farmOf(2);
    const [bad, good] = workers;
    if (bad !== undefined) bad.load = () => 503;
    const gateway = await runGateway({ workers: named(workers), models: { keepWarm: { m: 2 } } });
    const note = "1 of 2 warm copies: w0 did not load it (it answered 503)";
    await until("it is said", async () => (await modelOf(gateway)).includes(note));
    expect(good?.models["m"]).toBe("warm");
    expect(bad?.ordered).toEqual(["m"]);
    const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(metrics).toContain('farmgate_keep_warm_missing{model="m"} 1');
  });

  it("loads by the smallest request where a worker does not know the order", async () => {
    const [older] = (await farmOf(1)) as [FakeWorker];
    older.load = () => 404;
    const gateway = await runGateway({ workers: named([older]), models: { keepWarm: { m: 1 } } });
    await until("it is asked", () => older.asked.length === 1);
    expect(JSON.parse(older.request(0).body)).toMatchObject({ model: "m", max_tokens: 1 });
    await until("it counts as warm", async () => (await modelOf(gateway)).includes('"warm_copies":1'));
  });

  it("orders nothing before the first round of polls, so that what is loaded already is not loaded again", async () => {
    const [slow, quick] = (await farmOf(2)) as [FakeWorker, FakeWorker];
    slow.models["m"] = "warm";
    slow.catalogDelay = 200;
    const gateway = await runGateway({ workers: named([slow, quick]), models: { keepWarm: { m: 1 } } });
    await until("both are known", async () => (await modelOf(gateway)).includes('"warm_copies":1'));
    await until("a look is over", async () => (await fetch(`${gateway.url}/readyz`)).status === 200);
    expect(orders([slow, quick])).toEqual([]);
  });

  it("follows a changed configuration and goes on with what it knows", async () => {
    const workers = await farmOf(3);
    const [bad] = workers;
    if (bad !== undefined) bad.load = () => 503;
    const listed = named(workers);
    const gateway = await runGateway({ workers: listed });
    expect(orders(workers)).toEqual([]);
    gateway.reload(configOf({ workers: listed, models: { keepWarm: { m: 1 } } }));
    await until("one is warm", () => warm(workers).length === 1);
    expect(bad?.ordered).toHaveLength(1);
    gateway.reload(configOf({ workers: listed, models: { keepWarm: { m: 2 } } }));
    await until("two are warm", () => warm(workers).length === 2);
    expect(bad?.ordered).toHaveLength(1);
  });

  it("sends no order once the gateway drains", async () => {
    const workers = await farmOf(2, { m: "cold" });
    const held = await fakeWorker({ m: "warm" }, (asked) => {
      setTimeout(() => void completes()(asked), 300);
    });
    const gateway = await runGateway({
      workers: named([held, ...workers]),
      models: { keepWarm: { m: 1 } },
      drain: "5s",
    });
    const answer = chat(gateway);
    await until("it is under way", () => held.asked.length === 1);
    const closed = gateway.close();
    held.models["m"] = "cold";
    expect((await answer).status).toBe(200);
    await closed;
    expect(orders(workers)).toEqual([]);
  });

  it("sends the worker's own key", async () => {
    const [worker] = (await farmOf(1)) as [FakeWorker];
    const listed = agents({ w: worker }, { apiKey: "of-the-worker" });
    await runGateway({ workers: listed, models: { keepWarm: { m: 1 } } });
    await until("it is ordered", () => worker.ordered.length === 1);
    expect(worker.orderHeaders[0]?.authorization).toBe("Bearer of-the-worker");
  });
});
