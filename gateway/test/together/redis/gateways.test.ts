import { createLog } from "@farmgate/wire";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HUB_TIMES } from "../../../src/together/redis/hub-times.ts";
import { cleanup } from "../../support/cleanup.ts";
import { fakeWorker } from "../../support/fake-worker.ts";
import { agents, chat, runGateway } from "../../support/gateway.ts";
import { until } from "../../support/until.ts";
import { REDIS_SERVER, RedisServer } from "./redis-server.ts";

describe.skipIf(REDIS_SERVER === undefined)("gateways whose file names a Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start("--requirepass", "secret");
  });
  afterAll(() => server.end());

  it("share a worker's cap, say who they are together with, and keep the password to themselves", async () => {
    const worker = await fakeWorker({ m: "warm" });
    const answers: (() => void)[] = [];
    worker.answer = ({ response }) => void answers.push(() => response.end(JSON.stringify({ choices: [] })));
    const file = {
      workers: agents({ worker }, { maxConcurrent: 1 }),
      redis: `redis://:secret@127.0.0.1:${server.port}`,
    };
    const one = await runGateway(file);
    const two = await runGateway(file);
    const health = async () => (await (await fetch(`${two.url}/health`)).json()) as { status: string };
    await until("they meet", async () =>
      JSON.stringify(await health()).includes('"together":{"members":2,"trouble":null}'),
    );
    // Until then each goes by what it has heard of the other.
    await until("places are claimed", async () => {
      const [seconds] = (await server.ask("TIME")) as [string];
      return Number(seconds) * 1_000 > Number(await server.ask("GET", "farmgate:{farm}:epoch")) + HUB_TIMES.settle;
    });
    const first = chat(one);
    await until("the worker has one", () => answers.length === 1);
    const second = chat(two);
    await until("the other waits", async () => JSON.stringify(await health()).includes('"waiting":1'));
    answers[0]?.();
    expect((await first).status).toBe(200);
    await until("the worker has the other", () => answers.length === 2);
    answers[1]?.();
    expect((await second).status).toBe(200);
  });

  it("serve without it, and say so", async () => {
    const lines: string[] = [];
    const log = createLog("gateway", "silent");
    log.warn = (...said: unknown[]) => void lines.push(JSON.stringify(said));
    const worker = await fakeWorker({ m: "warm" });
    const down = await RedisServer.start();
    cleanup(() => down.end());
    await down.signal("SIGKILL");
    const url = `redis://u:secret@127.0.0.1:${down.port}`;
    const gateway = await runGateway({ workers: agents({ worker }, { maxConcurrent: 1 }), redis: { url } }, { log });
    expect((await chat(gateway)).status).toBe(200);
    const health = await (await fetch(`${gateway.url}/health`)).text();
    expect(JSON.parse(health)).toMatchObject({
      status: "degraded",
      together: { trouble: "Redis: nothing listens there" },
    });
    expect(health + lines.join("")).not.toMatch(/secret/);
    expect(lines.filter((line) => line.includes("Redis"))).toHaveLength(1);
  });
});
