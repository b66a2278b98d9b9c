import { readFileSync } from "node:fs";
import { get } from "node:https";
import { type GatewayOptions, gatewayConfigSchema, startGateway } from "@farmgate/gateway";
import { type Clock, seededRandom } from "@farmgate/shared";
import { createLog, createSystemClock, type Log } from "@farmgate/wire";
import { agentConfigSchema, type AgentOptions, startAgent } from "@farmgate/worker-agent";
import { afterEach, describe, expect, it } from "vitest";
import { testRoom } from "../../gateway/test/together/room-hub.ts";
import { ask, getJson } from "../harness/ask.ts";
import { fakeNetwork } from "../harness/fake-network.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { startTestEngine } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** Ten times as fast as time is. */
function fastClock(): Clock {
  const clock = createSystemClock();
  return { now: () => clock.now() * 10, wall: () => clock.wall(), after: (ms, fn) => clock.after(ms / 10, fn) };
}

/** A log whose lines a test reads. */
function readLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const note = (...told: unknown[]) => void lines.push(told.map((one) => JSON.stringify(one)).join(" "));
  const log = Object.assign(Object.create(createLog("test", "silent")) as Log, {
    info: note,
    warn: note,
    error: note,
    debug: note,
  });
  return { log, lines };
}

interface Worker {
  name: string;
  state: string;
  registered: boolean;
}

const KEYS = [
  { name: "root", key: "root-key", admin: true },
  { name: "agents", key: "agents-key", agents: true },
];

async function gateway(file: object = {}, more: Partial<GatewayOptions> = {}) {
  const started = await startGateway({
    config: gatewayConfigSchema.parse({
      listen: { port: 0 },
      health: { interval: "100ms", timeout: "1s" },
      keys: KEYS,
      workers: [],
      drain: "5s",
      ...file,
    }),
    clock: createSystemClock(),
    random: seededRandom(1),
    log: createLog("gateway", "silent"),
    version: "0.0.0",
    ...more,
  });
  return cleanup.add(started, (running) => running.close());
}

async function agent(file: object, more: Partial<AgentOptions> = {}) {
  const started = await startAgent({
    config: agentConfigSchema.parse({ name: "box", listen: { port: 0 }, drain: "5s", ...file }),
    directory: await cleanup.folder(),
    environment: {},
    clock: createSystemClock(),
    random: seededRandom(1),
    log: createLog("agent", "silent"),
    version: "0.0.0",
    ...more,
  });
  return cleanup.add(started, (running) => running.close());
}

const engine = (tokensPerSecond = 0) =>
  startTestEngine(cleanup, { models: ["m"], load: "0ms", slots: 8, tokensPerSecond });

/** The workers that have the first model of the list loaded. */
async function warmAt(door: { url: string }): Promise<string[]> {
  const answer = await fetch(`${door.url}/v1/models`, { headers: { authorization: "Bearer root-key" } });
  const { data } = (await answer.json()) as { data: { farmgate: { warm: string[] } }[] };
  return data[0]?.farmgate.warm ?? [];
}

async function workers({ url }: { url: string }): Promise<Worker[]> {
  return (await getJson<{ workers: Worker[] }>(`${url}/farm/workers`, "root-key")).workers;
}

const hasHealthy = (at: { url: string }, ...names: string[]) =>
  until(
    async () => {
      const healthy = (await workers(at)).flatMap(({ name, state }) => (state === "healthy" ? [name] : []));
      return names.every((name) => healthy.includes(name)) && healthy.length === names.length;
    },
    `${names.join(" and ") || "nobody"} in the farm`,
  );

const chat = ({ url }: { url: string }, extra = {}) =>
  ask(
    `${url}/v1/chat/completions`,
    { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true, max_tokens: 4, ...extra },
    { authorization: "Bearer root-key" },
  );

describe("an agent that registers", () => {
  it("serves by the key of its run alone, which nobody is shown, and leaves when it stops", async () => {
    const [told, said] = [readLog(), readLog()];
    const door = await gateway({}, { log: told.log });
    const box = await agent(
      {
        keys: [{ name: "own", key: "own-key" }],
        engines: [{ url: (await engine()).url, poll: "50ms" }],
        gateway: { url: door.url, key: "agents-key", weight: 2 },
      },
      { log: said.log },
    );
    await hasHealthy(door, "box");
    expect(await workers(door)).toMatchObject([{ registered: true, weight: 2, url: box.url }]);
    await until(async () => (await chat(door).answer).status === 200, "it answers");
    const direct = await fetch(`${box.url}/catalog`, { headers: { authorization: "Bearer agents-key" } });
    expect(direct.status).toBe(401);
    expect(said.lines.filter((line) => line.includes("registered with"))).toHaveLength(1);
    await box.close();
    expect(await workers(door)).toEqual([]);
    const views = await Promise.all(["/farm/workers", "/metrics", "/farm/models"].map((path) => text(door.url + path)));
    for (const secret of ["agents-key", "Bearer", '"key":']) {
      expect([...views, ...told.lines, ...said.lines].join("\n")).not.toContain(secret);
    }
    expect(told.lines.join("\n")).toContain("box has left");
  });

  it("is back by itself after the gateway was away, and says so once", async () => {
    const { log, lines } = readLog();
    const [port = 0] = await freePorts(1);
    const first = await gateway({ listen: { port } });
    const file = { gateway: { url: first.url, key: "agents-key" }, engines: [{ url: (await engine()).url }] };
    await agent(file, { log, clock: fastClock() });
    await hasHealthy(first, "box");
    await first.close();
    await until(() => lines.some((line) => line.includes("is not reached")), "it notices");
    const second = await gateway({ listen: { port } });
    await hasHealthy(second, "box");
    await until(() => lines.some((line) => line.includes("registered again")), "it says so");
    for (const words of ["is not reached", "registered again", "registered with"]) {
      expect([words, lines.filter((line) => line.includes(words)).length]).toEqual([words, 1]);
    }
  });

  it("registers with a gateway that starts later, and does not say that it was there before", async () => {
    const { log, lines } = readLog();
    const [port = 0] = await freePorts(1);
    const file = {
      gateway: { url: `http://127.0.0.1:${port}`, key: "agents-key" },
      engines: [{ url: (await engine()).url }],
    };
    await agent(file, { log, clock: fastClock() });
    await until(() => lines.some((line) => line.includes("is not reached")), "it notices");
    await hasHealthy(await gateway({ listen: { port } }), "box");
    await until(() => lines.some((line) => line.includes("registered with")), "it says so");
    expect(lines.filter((line) => line.includes("registered again"))).toEqual([]);
  });

  it("is told when its key or its name is wrong, and said so once", async () => {
    const door = await gateway();
    const entry = { url: door.url, key: "agents-key" };
    const url = (await engine()).url;
    await agent({ engines: [{ url }], gateway: entry });
    await hasHealthy(door, "box");
    const [stranger, twin] = [readLog(), readLog()];
    await agent({ name: "s", engines: [{ url }], gateway: { ...entry, key: "wrong" } }, { log: stranger.log });
    await agent({ engines: [{ url }], gateway: entry }, { log: twin.log });
    await until(() => stranger.lines.join().includes("it answers 401: This key is not known here."), "401 is told");
    await until(() => twin.lines.join().includes("it answers 409: The agent at http"), "409 is told");
    expect((await workers(door)).map(({ name }) => name)).toEqual(["box"]);
  });

  it("leaves before it drains, so that nothing is lost", async () => {
    const door = await gateway();
    const entry = { url: door.url, key: "agents-key" };
    const slow = (await engine(100)).url;
    const [a] = [
      await agent({ name: "a", engines: [{ url: slow, poll: "50ms" }], gateway: entry }),
      await agent({ name: "b", engines: [{ url: slow, poll: "50ms" }], gateway: entry }),
    ];
    await hasHealthy(door, "a", "b");
    await until(async () => (await chat(door).answer).status === 200, "it answers");
    await until(async () => (await warmAt(door)).length === 2, "both are known to have it loaded");
    const long = Array.from({ length: 4 }, () => chat(door, { max_tokens: 50 }));
    await Promise.all(long.map(({ firstByte }) => firstByte));
    const closing = a.close();
    const late: Promise<{ status: number }>[] = [];
    const asking = setInterval(() => late.push(chat(door).answer), 20);
    await closing;
    clearInterval(asking);
    const answers = await Promise.all([...long.map(({ answer }) => answer), ...late]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const bodies = await Promise.all(long.map(async ({ answer }) => (await answer).body));
    expect(bodies.every((body) => body.includes("[DONE]") && !body.includes('"error"'))).toBe(true);
    const by = await Promise.all(long.map(async ({ answer }) => (await answer).headers["x-farmgate-worker"]));
    expect(new Set(by)).toEqual(new Set(["a", "b"]));
    expect((await workers(door)).map(({ name }) => name)).toEqual(["b"]);
  });
});

describe("an agent by HTTPS", () => {
  const pem = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}.pem`, import.meta.url), "utf8");
  const pair = (name: string) => ({ cert: pem(name), key: pem(`${name}.key`) });

  it("is trusted by the certificate that it sends, and its gateway by the authority that its file names", async () => {
    const door = await gateway({}, { tls: pair("server") });
    const entry = { url: door.url, key: "agents-key" };
    const stranger = readLog();
    const engines = [{ url: (await engine()).url }];
    await agent({ name: "no-ca", engines, gateway: entry }, { log: stranger.log });
    const ca = pem("authority");
    const box = await agent({ engines, gateway: { ...entry, ca } }, { tls: pair("self-signed") });
    expect(box.url).toMatch(/^https:/);
    await until(async () => {
      const { workers } = JSON.parse(await secureText(`${door.url}/farm/workers`, ca)) as { workers: Worker[] };
      return workers.map(({ name, state }) => `${name} ${state}`).join() === "box healthy";
    }, "it is polled by HTTPS");
    await until(() => stranger.lines.join().includes("is not reached"), "who trusts nobody of it does not get in");
  });
});

describe("gateways that act as one", () => {
  it("all have what registers with one of them, and none has it when it leaves", async () => {
    const room = testRoom();
    // As the processes of one host: what is at a loopback address of one is there for all.
    const join = (name: string) => {
      const hub = room.hub(name);
      return gateway({}, { hub, siblings: hub });
    };
    const [one, two] = [await join("one"), await join("two")];
    const box = await agent({
      engines: [{ url: (await engine()).url, poll: "50ms" }],
      keys: [{ name: "own", key: "own-key" }],
      gateway: { url: one.url, key: "agents-key" },
    });
    await hasHealthy(one, "box");
    await hasHealthy(two, "box");
    await until(async () => (await chat(two).answer).status === 200, "the other one asks it by its key too");
    const three = await join("three");
    await hasHealthy(three, "box");
    await box.close();
    await Promise.all([one, two, three].map((each) => hasHealthy(each)));
    expect(await Promise.all([one, two, three].map(workers))).toEqual([[], [], []]);
  });
});

describe("a gateway that tells the local network of itself", () => {
  it("is found by an agent that looks for one, which registers by its key", async () => {
    const network = fakeNetwork();
    const host = "0.0.0.0";
    const door = await gateway(
      { listen: { host, port: 0 }, discovery: { mdns: true } },
      { openMulticast: network.open },
    );
    const url = `http://127.0.0.1:${door.port}`;
    const entry = { discover: true, key: "agents-key" };
    const box = await agent(
      { engines: [{ url: (await engine()).url }], gateway: entry },
      { openMulticast: network.open },
    );
    await hasHealthy({ url }, "box");
    await box.close();
    expect(await workers({ url })).toEqual([]);
    await door.close();
    expect(network.services).toEqual([]);
  });
});

/** `fetch` knows none of the tests' authorities. */
function secureText(url: string, ca: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: "Bearer root-key" };
    get(url, { ca, headers, agent: false }, (answer) => {
      let got = "";
      answer.on("data", (piece) => (got += String(piece)));
      answer.on("end", () => resolve(got));
    }).on("error", reject);
  });
}

async function text(url: string): Promise<string> {
  return (await fetch(url, { headers: { authorization: "Bearer root-key" } })).text();
}
