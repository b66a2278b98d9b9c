import { appendFile } from "node:fs/promises";
import { connect } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { askChat, getJson } from "../harness/ask.ts";
import { Cleanup, runFarmgate } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";
import { startHeldWorker } from "../harness/held-worker.ts";
import { nothingUnderWay } from "../harness/under-way.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const post = (url: string) => fetch(url, { method: "POST" });
const many = <T>(count: number, make: () => T) => Array.from({ length: count }, make);

describe("a worker that is drained under load", () => {
  test("gets nothing from that moment, ends what it has, and is back when it is resumed", async () => {
    const [a, b] = [await startHeldWorker(cleanup), await startHeldWorker(cleanup)];
    const { url } = await startTestGateway(cleanup, { a: a.raw.url, b: b.raw.url });
    const before = many(20, () => askChat(url, "m"));
    await Promise.all(before.map(({ firstByte }) => firstByte));
    expect([a.raw.asked.length, b.raw.asked.length]).toEqual([10, 10]);
    const during: ReturnType<typeof askChat>[] = [];
    const drained = post(`${url}/farm/workers/a/drain`);
    for (let i = 0; i < 10; i += 1) during.push(askChat(url, "m"));
    expect(await (await drained).json()).toMatchObject({ state: "draining", inflight: expect.any(Number) });
    await Promise.all(during.map(({ firstByte }) => firstByte));
    const got = a.raw.asked.length;
    const after = many(20, () => askChat(url, "m"));
    await Promise.all(after.map(({ firstByte }) => firstByte));
    expect(a.raw.asked.length).toBe(got);
    expect(after.map((asked) => asked.head()?.headers["x-farmgate-worker"])).toEqual(many(20, () => "b"));
    const status = runFarmgate(["status", "--gateway", url]);
    await status.ended;
    expect(status.stdout()).toMatch(/^a +draining /m);
    a.release();
    b.release();
    for (const { answer } of [...before, ...during, ...after]) {
      const { status: code, body } = await answer;
      expect([code, body.endsWith("data: [DONE]\n\n")]).toEqual([200, true]);
    }
    await nothingUnderWay(url);
    expect(await (await post(`${url}/farm/workers/a/resume`)).json()).toMatchObject({ state: "healthy", inflight: 0 });
    for (const { answer } of many(4, () => askChat(url, "m"))) expect((await answer).status).toBe(200);
    expect(a.raw.asked.length).toBeGreaterThan(got);
  });

  test("and was the last one for its model: those who wait and those who come are told so", async () => {
    const a = await startHeldWorker(cleanup);
    const workers = [{ name: "a", url: a.raw.url, maxConcurrent: 1 }];
    const { url } = await startTestGateway(cleanup, {}, { workers });
    const running = askChat(url, "m");
    await running.firstByte;
    const waiting = askChat(url, "m");
    await until(async () => (await (await fetch(`${url}/metrics`)).text()).includes("queue_depth 1"), "one waits");
    await post(`${url}/farm/workers/a/drain`);
    for (const { answer } of [waiting, askChat(url, "m")]) {
      const { status, body, headers } = await answer;
      expect([status, headers["retry-after"] !== undefined]).toEqual([503, true]);
      expect(body).toContain("a is draining");
    }
    a.release();
    expect((await running.answer).body).toMatch(/\[DONE\]\n\n$/);
  });
});

/** Two agents with one engine each that have `m` loaded; `slots` at each. */
async function twoAgents(slots: number, tokensPerSecond = 0, config: object = {}) {
  const ports = await freePorts(2);
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const agents = await Promise.all(
    ports.map(async (port, i) => {
      const models = [{ name: "m", loaded: true }];
      const engine = await startTestEngine(cleanup, { models, slots, tokensPerSecond });
      const engines = [{ url: engine.url, engine: "llama-server", poll: "200ms", slots }];
      const name = `box-${i}`;
      const agent = await cleanup.program("agent", { name, listen: { port }, engines, ...config }, urls[i] ?? "");
      const warm = async () => {
        const { models: listed } = await getJson<{ models: { state: string }[] }>(`${urls[i]}/catalog`);
        return listed[0]?.state === "warm";
      };
      await until(warm, "the agent has its model");
      return agent;
    }),
  );
  return { urls, agents, workers: { one: urls[0] ?? "", two: urls[1] ?? "" } };
}

describe("an agent that is told to drain", () => {
  test("is passed over at once by a gateway that does not know yet, and left out by one that does", async () => {
    const { urls, workers } = await twoAgents(4);
    const slow = await startTestGateway(cleanup, workers, { health: { interval: "10m", timeout: "2s" } });
    const quick = await startTestGateway(cleanup, workers);
    await post(`${urls[0]}/drain`);
    const told = many(6, () => askChat(slow.url, "m"));
    for (const { answer } of told) expect((await answer).headers["x-farmgate-worker"]).toBe("two");
    const metrics = await (await fetch(`${slow.url}/metrics`)).text();
    expect(metrics).toMatch(/farmgate_retries_total\{reason="busy"\} [1-6]\n/);
    expect(metrics).not.toMatch(/farmgate_breaker_open\{.*\} 1/);
    expect((await slow.farm()).map(({ state }) => state)).toEqual(["healthy", "healthy"]);
    const states = async () => (await quick.farm()).map(({ state }) => state).join();
    await until(async () => (await states()) === "draining,healthy", "the catalogue tells it");
    for (const { answer } of many(4, () => askChat(quick.url, "m"))) {
      expect((await answer).headers).toMatchObject({ "x-farmgate-worker": "two", "x-farmgate-attempts": "1" });
    }
    await post(`${urls[0]}/resume`);
    await until(async () => (await states()) === "healthy,healthy", "it is back");
  });
});

describe("an agent that gets SIGTERM under load", () => {
  test("ends what it answers, and what waited there is answered by another", async () => {
    const { agents, workers } = await twoAgents(2, 40);
    const { url, gateway } = await startTestGateway(cleanup, workers);
    const running = many(4, () => askChat(url, "m", { max_tokens: 60 }));
    await Promise.all(running.map(({ firstByte }) => firstByte));
    const waiting = many(8, () => askChat(url, "m", { max_tokens: 5 }));
    const depth = async () => {
      const { queue_depth } = await getJson<{ queue_depth: number }>(`${workers.one}/health`);
      return queue_depth;
    };
    await until(async () => (await depth()) === 4, "four wait there");
    const ended = agents[0]?.stop();
    const answers = await Promise.all([...running, ...waiting].map(({ answer }) => answer));
    for (const { status, body } of answers) expect([status, body.endsWith("data: [DONE]\n\n")]).toEqual([200, true]);
    expect(
      answers
        .slice(0, 4)
        .map(({ headers }) => String(headers["x-farmgate-worker"]))
        .toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(["one", "one", "two", "two"]);
    expect(answers.slice(4).map(({ headers }) => headers["x-farmgate-worker"])).toEqual(many(8, () => "two"));
    expect(await ended).toBe(0);
    expect(gateway.output()).not.toMatch(/"status":5/);
  });

  test("is not talked out of it by an order to resume, and says what of its file needs a restart before", async () => {
    const { agents, urls } = await twoAgents(2, 20);
    const [agent] = agents;
    if (agent === undefined) throw new Error("no agent");
    agent.child.kill("SIGHUP");
    await until(() => agent.stdout().includes("the file sets nothing new"), "it has looked, and lives");
    await appendFile(agent.file, "drain: 7m\n");
    await until(() => agent.stdout().includes("a restart is needed for: drain"), "it says so");
    const asked = askChat(urls[0] ?? "", "m", { max_tokens: 30 });
    await asked.firstByte;
    // On a connection that is open when it begins to stop, since no other is taken then.
    const late = cleanup.add(connect(Number(new URL(urls[0] ?? "").port), "127.0.0.1"), (socket) => socket.destroy());
    let said = "";
    late.setEncoding("utf8").on("data", (piece: string) => (said += piece));
    late.write("POST /resume HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
    await until(() => said === "HTTP/1.1 100 Continue\r\n\r\n", "the agent has its head");
    said = "";
    const ended = agent.stop();
    await until(() => agent.stdout().includes("SIGTERM: closing"), "it stops");
    late.write("{}");
    await until(() => said.includes("draining"), "the order is refused");
    expect(said).toMatch(/^HTTP\/1\.1 503 /);
    expect((await asked.answer).body).toMatch(/\[DONE\]\n\n$/);
    expect(await ended).toBe(0);
  });
});
