import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createLog } from "@farmgate/wire";
import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { cleanup } from "../support/cleanup.ts";
import { completes, type FakeWorker, fakeWorker } from "../support/fake-worker.ts";
import { agents, chat, configOf, errorOf, runGateway } from "../support/gateway.ts";
import { steppedClock } from "../support/stepped-clock.ts";
import { deferred, until } from "../support/until.ts";

/** A fake agent that says its name. */
async function agent(name: string, answer = completes()): Promise<FakeWorker> {
  const worker = await fakeWorker({ m: "warm" }, answer);
  worker.more.catalog = { worker: name };
  return worker;
}

const bodyOf = (name: string, port: number, more: object = {}) => ({
  name,
  port,
  engine: "agent",
  version: "0.1.0",
  instance: "instance-1",
  key: "run-key-of-this-run",
  ...more,
});

function register(gateway: RunningGateway, body: object | string, key?: string, headers = {}): Promise<Response> {
  return fetch(`${gateway.url}/farm/register`, {
    method: "POST",
    body: typeof body === "string" ? body : JSON.stringify(body),
    headers: { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
  });
}

function leave(gateway: RunningGateway, name: string, instance: string): Promise<Response> {
  return fetch(`${gateway.url}/farm/register/${name}?instance=${instance}`, { method: "DELETE" });
}

interface Listed {
  name: string;
  url: string;
  registered: boolean;
  lease_ms?: number;
  state: string;
  weight: number;
}

async function workers(gateway: RunningGateway, key = "none"): Promise<Listed[]> {
  const answer = await fetch(`${gateway.url}/farm/workers`, { headers: { authorization: `Bearer ${key}` } });
  return ((await answer.json()) as { workers: Listed[] }).workers;
}

const healthy = (gateway: RunningGateway, name: string) => async () =>
  (await workers(gateway)).some((worker) => worker.name === name && worker.state === "healthy");

describe("a worker that registers", () => {
  it("is one like any other, asked at its own address by the key that it sent", async () => {
    const gateway = await runGateway({});
    const box = await agent("box");
    const answer = await register(gateway, bodyOf("box", box.port, { weight: 3 }));
    expect([answer.status, await answer.json()]).toEqual([200, { name: "box", leaseMs: 30_000 }]);
    await until("it is healthy", healthy(gateway, "box"));
    const [listed] = await workers(gateway);
    expect(listed).toMatchObject({ url: `http://127.0.0.1:${box.port}`, registered: true, weight: 3 });
    expect(listed?.lease_ms).toBeLessThanOrEqual(30_000);
    const served = await chat(gateway);
    expect([served.status, served.headers.get("x-farmgate-worker")]).toEqual([200, "box"]);
    expect(box.request(0).headers.authorization).toBe("Bearer run-key-of-this-run");
    expect(JSON.stringify(await workers(gateway))).not.toContain("run-key");
    expect((await leave(gateway, "box", "instance-1")).status).toBe(200);
    expect(await workers(gateway)).toEqual([]);
    expect((await leave(gateway, "box", "instance-1")).status).toBe(404);
  });

  it("is out once its lease has run out, and what it answers then goes on", async () => {
    const clock = steppedClock();
    const go = deferred();
    const gateway = await runGateway({}, { clock });
    const box = await agent("box", async ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("data: 1\n\n");
      await go.promise;
      response.end("data: [DONE]\n\n");
    });
    const told = bodyOf("box", box.port);
    expect((await register(gateway, told)).status).toBe(200);
    await until("it is healthy", healthy(gateway, "box"));
    const running = await chat(gateway, { stream: true });
    clock.move(20_000);
    expect((await register(gateway, told)).status).toBe(200);
    clock.move(29_000);
    expect(await workers(gateway)).toMatchObject([{ name: "box", lease_ms: 1_000 }]);
    clock.move(1_000);
    expect(await workers(gateway)).toEqual([]);
    go.resolve();
    expect(await running.text()).toBe("data: 1\n\ndata: [DONE]\n\n");
    // Its drain has a timer on this clock too.
    clock.move(1_000);
  });

  it("stays when the file is another, until the file has its name", async () => {
    const [box, static1] = [await agent("box"), await agent("one")];
    const gateway = await runGateway({});
    await register(gateway, bodyOf("box", box.port));
    const names = async () => (await workers(gateway)).map(({ name, registered }) => `${name} ${registered}`);
    gateway.reload(configOf({ workers: agents({ one: static1 }) }));
    expect(await names()).toEqual(["one false", "box true"]);
    await until("it is healthy", healthy(gateway, "box"));
    gateway.reload(configOf({ workers: agents({ box: static1 }) }));
    expect(await names()).toEqual(["box false"]);
    const refused = await errorOf(await register(gateway, bodyOf("box", box.port)));
    expect(refused).toMatchObject({ status: 409, code: "conflict" });
    expect(refused.message).toContain("file has a worker named");
  });
});

it("is nobody's business any more once the gateway has stopped", async () => {
  const clock = steppedClock();
  const log = createLog("gateway", "silent");
  const warned: unknown[] = [];
  log.warn = (...words: unknown[]) => void warned.push(words);
  const gateway = await runGateway({}, { clock, log });
  const box = await agent("box");
  expect((await register(gateway, bodyOf("box", box.port))).status).toBe(200);
  await gateway.close();
  clock.move(60_000);
  expect(warned).toEqual([]);
});

describe("a name", () => {
  it("is one agent's while its lease holds, told who has it, and a restarted agent's at once", async () => {
    const gateway = await runGateway({});
    const [box, other] = [await agent("box"), await agent("box")];
    expect((await register(gateway, bodyOf("box", box.port))).status).toBe(200);
    const clash = await errorOf(await register(gateway, bodyOf("box", other.port, { instance: "instance-2" })));
    expect(clash).toMatchObject({ status: 409, code: "conflict" });
    expect(clash.message).toContain(`The agent at http://127.0.0.1:${box.port} is registered as "box"`);
    const restarted = bodyOf("box", box.port, { instance: "instance-3", key: "another-key-by-now" });
    expect((await register(gateway, restarted)).status).toBe(200);
    expect((await leave(gateway, "box", "instance-1")).status).toBe(404);
    await until("it is asked by its new key", async () => {
      await chat(gateway);
      return box.asked.at(-1)?.headers.authorization === "Bearer another-key-by-now";
    });
    // The same run may move.
    expect((await register(gateway, { ...restarted, port: other.port })).status).toBe(200);
    expect(await workers(gateway)).toMatchObject([{ url: `http://127.0.0.1:${other.port}` }]);
  });
});

describe("who may register", () => {
  const keys = [
    { name: "root", key: "root-key", admin: true },
    { name: "user", key: "user-key" },
    { name: "agents", key: "agents-key", agents: true },
    { name: "both", key: "both-key", agents: true, models: ["*"] },
  ];

  it("is an admin or a key for agents, which may do nothing else unless it has models", async () => {
    const box = await agent("box");
    const gateway = await runGateway({ keys });
    const of = async (key: string | undefined, name: string) =>
      (await register(gateway, bodyOf(name, box.port), key)).status;
    expect(await of(undefined, "box")).toBe(401);
    expect(await of("user-key", "box")).toBe(403);
    expect(await of("agents-key", "box")).toBe(200);
    expect(await of("root-key", "box")).toBe(200);
    for (const path of ["/farm/workers", "/farm/requests", "/metrics", "/v1/models", "/api/tags"]) {
      const statusFor = async (key: string) =>
        (await fetch(gateway.url + path, { headers: { authorization: `Bearer ${key}` } })).status;
      expect([path, await statusFor("agents-key"), await statusFor("both-key")]).toEqual([path, 403, 200]);
    }
    const asked = async (key: string) =>
      (await chat(gateway, {}, { headers: { authorization: `Bearer ${key}` } })).status;
    await until("it is known", async () => (await asked("both-key")) === 200);
    expect(await asked("agents-key")).toBe(403);
    const drain = { method: "POST", headers: { authorization: "Bearer both-key" } };
    expect((await fetch(`${gateway.url}/farm/workers/box/drain`, drain)).status).toBe(403);
  });

  it("is no page of elsewhere", async () => {
    const gateway = await runGateway({});
    const box = await agent("box");
    const headers = { origin: "https://evil.example" };
    expect((await register(gateway, bodyOf("box", box.port), undefined, headers)).status).toBe(403);
  });
});

describe("an address", () => {
  it("that no worker can have is refused with words", async () => {
    const gateway = await runGateway({});
    const nobody = "no worker can be at such an address";
    for (const [url, words] of [
      ["http://169.254.169.254/latest", nobody],
      ["http://[fe80::1]:8401", nobody],
      ["http://[::ffff:169.254.169.254]", nobody],
      ["http://[fd00:ec2::254]", nobody],
      ["http://2852039166", nobody],
      ["http://0.0.0.0:8401", nobody],
      ["http://255.255.255.255", nobody],
      ["http://224.0.0.251", nobody],
      ["ftp://192.0.2.1", "must be an http:// or https:// address"],
      ["http://u:p@192.0.2.1", "must not hold credentials"],
      ["file:///etc/passwd", "must be an http:// or https:// address"],
      ["http://nothing.invalid", "knows no address of nothing.invalid"],
    ] as const) {
      const refused = await errorOf(await register(gateway, bodyOf("box", 8401, { url })));
      expect(refused).toMatchObject({ status: 400, code: "invalid_request" });
      expect(refused.message).toContain(words);
    }
    expect(await workers(gateway)).toEqual([]);
  });

  it("of the gateway's own machine is refused where a proxy passed the request on", async () => {
    const gateway = await runGateway({ keys: [{ name: "agents", key: "k", agents: true, models: ["*"] }] });
    const passed = { "x-forwarded-for": "192.0.2.7" };
    const told = bodyOf("box", 8401, { url: "http://127.0.0.1:8401" });
    expect((await errorOf(await register(gateway, told, "k", passed))).message).toContain("gateway's own machine");
    const without = await errorOf(await register(gateway, bodyOf("box", 8401), "k", passed));
    expect(without.message).toContain("set `gateway.advertise`");
  });

  it("where no agent of that name answers is refused, and asked no more", async () => {
    const gateway = await runGateway({});
    const wrong = await agent("another");
    const found = await errorOf(await register(gateway, bodyOf("box", wrong.port)));
    expect(found.message).toContain("an agent of another name answers there");
    let asked = 0;
    const stranger = createServer((_, response) => {
      asked += 1;
      response.end("<html>");
    });
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
    cleanup(() => stranger.close());
    const { port } = stranger.address() as AddressInfo;
    expect((await errorOf(await register(gateway, bodyOf("box", port)))).message).toContain("no agent answers there");
    expect((await errorOf(await register(gateway, bodyOf("box", 1)))).message).toContain("connection refused");
    expect([asked, await workers(gateway)]).toEqual([1, []]);
  });
});
