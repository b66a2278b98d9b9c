import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { seededRandom } from "@farmgate/shared";
import { createLog, createSystemClock } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import { startGateway } from "../src/index.ts";
import { alone } from "../src/together/alone.ts";
import type { Hub } from "../src/together/hub.ts";
import { cleanup } from "./support/cleanup.ts";
import { fakeWorker, hangs } from "./support/fake-worker.ts";
import { agents, chat, configOf, errorOf, runGateway } from "./support/gateway.ts";
import { deferred, until } from "./support/until.ts";

describe("a gateway that starts", () => {
  it("makes the first requests wait for the first catalogues", async () => {
    const worker = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const answers = await Promise.all([1, 2, 3].map(() => chat(gateway)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("waits no longer than a poll may take", async () => {
    const worker = await fakeWorker({});
    worker.catalogStatus = 0;
    const gateway = await runGateway({ workers: agents({ a: worker }), health: { interval: "10s", timeout: "100ms" } });
    expect((await chat(gateway)).status).toBe(200);
  });

  it("fails when its port is taken", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    cleanup(() => other.close());
    const config = configOf({ listen: { port: (other.address() as AddressInfo).port } });
    const log = createLog("gateway", "silent");
    const start = startGateway({ config, clock: createSystemClock(), random: seededRandom(1), log, version: "0" });
    await expect(start).rejects.toThrow("EADDRINUSE");
  });

  it("closes all that it had opened when its port is taken, the last first", async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    cleanup(() => taken.close());
    const steps: string[] = [];
    const told = (name: string): Hub => ({
      ...alone(name),
      isShared: true,
      async start() {
        steps.push(`${name} starts`);
      },
      async close() {
        steps.push(`${name} closes`);
      },
    });
    const config = configOf({ listen: { port: (taken.address() as AddressInfo).port } });
    const [clock, log] = [createSystemClock(), createLog("gateway", "silent")];
    const options = { config, clock, log, random: seededRandom(1), version: "0" };
    const start = startGateway({ ...options, hub: told("hub"), siblings: told("siblings") });
    await expect(start).rejects.toThrow("EADDRINUSE");
    expect(steps).toEqual(["hub starts", "siblings starts", "siblings closes", "hub closes"]);
  });
});

describe("a gateway that drains", () => {
  it("lets running answers end, turns the others away, and takes no new ones", async () => {
    const go = deferred();
    const worker = await fakeWorker({ m: "warm" }, async ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      await go.promise;
      response.end("data: [DONE]\n\n");
    });
    const gateway = await runGateway({ workers: agents({ a: worker }, { maxConcurrent: 1 }), drain: "10s" });
    const running = await chat(gateway, { stream: true });
    const waiting = chat(gateway);
    await until("one waits", async () =>
      (await (await fetch(`${gateway.url}/metrics`)).text()).includes("queue_depth 1"),
    );
    const closed = gateway.close();
    expect(await errorOf(await waiting)).toMatchObject({ status: 503, code: "draining" });
    await expect(chat(gateway)).rejects.toThrow("fetch failed");
    go.resolve();
    expect(await running.text()).toBe("data: 1\n\ndata: [DONE]\n\n");
    await closed;
  });

  it("serves what it has when its siblings go on, also what waits, until they end as well", async () => {
    const ends: (() => void)[] = [];
    const worker = await fakeWorker({ m: "warm" }, async ({ response }) => {
      await new Promise<void>((resolve) => ends.push(resolve));
      response.end("{}");
    });
    const gateway = await runGateway({ workers: agents({ a: worker }, { maxConcurrent: 1 }), drain: "1m" });
    const asked = [chat(gateway)];
    await until("one is asked", () => ends.length === 1);
    for (const waiting of [1, 2]) {
      asked.push(chat(gateway));
      const words = `queue_depth ${waiting}\n`;
      await until(words, async () => (await (await fetch(`${gateway.url}/metrics`)).text()).includes(words));
    }
    const left = gateway.leave();
    ends[0]?.();
    expect((await asked[0])?.status).toBe(200);
    await until("who waited is asked", () => ends.length === 2);
    const closed = gateway.close();
    const answered = await Promise.race([asked[1], asked[2]]);
    expect(answered && (await errorOf(answered))).toMatchObject({ status: 503, code: "draining" });
    ends[1]?.();
    const statuses = (await Promise.all(asked)).map((answer) => answer.status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(2);
    await Promise.all([left, closed]);
  });

  it("cancels what has not ended in time, and tells its caller", async () => {
    const worker = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a: worker }), drain: "50ms" });
    const running = chat(gateway);
    await until("it is asked", () => worker.asked.length === 1);
    await gateway.close();
    expect((await running).status).toBe(503);
    await until("the worker sees the close", () => worker.asked.every(({ closed }) => closed));
  });
});

describe("a changed configuration", () => {
  it("is in force at once and drops nothing", async () => {
    const go = deferred();
    const a = await fakeWorker({ m: "warm" }, async ({ response }) => {
      await go.promise;
      response.end("{}");
    });
    const b = await fakeWorker({ m: "warm", n: "warm" });
    const gateway = await runGateway({ workers: agents({ a }) });
    const running = chat(gateway);
    await until("it is asked", () => a.asked.length === 1);
    const next = configOf({
      workers: agents({ b }),
      models: { aliases: { fast: "n" } },
      keys: [{ name: "k", key: "secret" }],
    });
    expect(gateway.reload(next)).toEqual({ applied: true, restartNeeded: [] });
    expect((await chat(gateway)).status).toBe(401);
    const headers = { authorization: "Bearer secret" };
    await until("the new worker is known", async () => {
      const response = await chat(gateway, { model: "fast" }, { headers });
      return response.headers.get("x-farmgate-worker") === "b" && response.headers.get("x-farmgate-model") === "n";
    });
    go.resolve();
    expect((await running).status).toBe(200);
    expect(a.asked).toHaveLength(1);
  });

  it("frees those who wait when the cap goes up", async () => {
    const a = await fakeWorker({ m: "warm" }, hangs);
    const gateway = await runGateway({ workers: agents({ a }, { maxConcurrent: 1 }) });
    for (const n of [1, 2]) {
      void chat(gateway).catch(() => {});
      await until(`${n} are in`, async () => {
        const live = (await (await fetch(`${gateway.url}/farm/requests`)).json()) as { requests: unknown[] };
        return live.requests.length === n;
      });
    }
    expect(a.asked.length).toBeLessThanOrEqual(1);
    gateway.reload(configOf({ workers: agents({ a }, { maxConcurrent: 2 }) }));
    await until("both are at the worker", () => a.asked.length === 2);
  });

  it("says what waits for a restart, and the same file changes nothing", async () => {
    const gateway = await runGateway({});
    expect(gateway.reload(configOf({}))).toEqual({ applied: false, restartNeeded: [] });
    expect(gateway.reload(configOf({ listen: { port: 9_999 } }))).toEqual({
      applied: false,
      restartNeeded: ["listen"],
    });
  });

  it("does not drop its keys while it still listens where other machines come in", async () => {
    const keys = [{ name: "k", key: "secret" }];
    // This machine all the same, but not as far as the configuration knows.
    const gateway = await runGateway({ listen: { host: "127.1", port: 0 }, keys });
    const inside = configOf({ listen: { host: "127.0.0.1", port: 0 } });
    expect(() => gateway.reload(inside)).toThrow(/until a restart other machines reach .* and no keys are set/);
    expect((await chat(gateway)).status).toBe(401);
    expect(gateway.reload({ ...inside, keys: configOf({ keys }).keys })).toEqual({
      applied: false,
      restartNeeded: ["listen"],
    });
  });
});
