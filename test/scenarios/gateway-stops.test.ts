import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { startKinds } from "../harness/all-kinds-farm.ts";
import { ask, askChat, getJson } from "../harness/ask.ts";
import { Cleanup, FARMGATE } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { startTestEngine, startTestGateway } from "../harness/gateway-farm.ts";
import { startHeldWorker } from "../harness/held-worker.ts";
import { processesOf } from "../harness/processes-of.ts";
import { until } from "../harness/until.ts";
import { RealtimeClient } from "../harness/web-socket.ts";

/** Runs a command on a terminal of its own. */
const TERMINAL = "/usr/bin/script";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

/** A bare connection, and all that came on it. */
async function dial(url: string) {
  const socket: Socket = connect(Number(new URL(url).port), "127.0.0.1");
  cleanup.add(socket, (open) => open.destroy());
  let text = "";
  socket.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  socket.on("error", () => {});
  let closed = false;
  socket.on("close", () => (closed = true));
  await new Promise((resolve) => socket.once("connect", resolve));
  return { socket, text: () => text, closed: () => closed };
}

/** 30 streams and some of everything else; no answer ends before its worker is released. */
async function loadedFarm(config: Record<string, unknown>) {
  const { engine } = await startKinds(cleanup, "b");
  const [wide, narrow] = [await startHeldWorker(cleanup), await startHeldWorker(cleanup)];
  const { gateway, url } = await startTestGateway(
    cleanup,
    {},
    {
      embeddings: { batchWindow: "50ms" },
      workers: [
        { name: "kinds", url: engine.url },
        { name: "wide", url: wide.raw.url, engine: "openai" },
        { name: "narrow", url: narrow.raw.url, engine: "openai", maxConcurrent: 1 },
      ],
      ...config,
    },
  );
  const idle = await dial(url);
  idle.socket.write("GET /livez HTTP/1.1\r\nhost: x\r\n\r\n");
  await until(() => idle.text().includes("200 OK"), "an idle connection");
  const realtime = await new RealtimeClient(`${url}/v1/realtime?model=b-sound`).opened();
  const streams = Array.from({ length: 30 }, () => askChat(url, "m@wide"));
  const messages = { model: "m@narrow", max_tokens: 60, stream: true, messages: [{ role: "user", content: "Hi" }] };
  const translated = ask(`${url}/v1/messages`, messages);
  await Promise.all([...streams, translated].map((stream) => stream.firstByte));
  const waiting = Array.from({ length: 5 }, () => askChat(url, "m@narrow"));
  const embed = (input: string) => ask(`${url}/v1/embeddings`, { model: "m@wide", input });
  const embeddings = Array.from({ length: 10 }, (_, i) => embed(`text ${i}`));
  const upload = await dial(url);
  upload.socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{");
  const phases = async () => {
    const { requests } = await getJson<{ requests: { phase: string }[] }>(`${url}/farm/requests`);
    return (phase: string) => requests.filter((request) => request.phase === phase).length;
  };
  await until(async () => {
    const count = await phases();
    return count("waiting") === 5 && count("receiving") === 1 && count("joined") === 10 && count("asking") >= 1;
  }, "all is under way");
  const release = () => [wide, narrow].forEach((worker) => worker.release());
  return { gateway, url, idle, realtime, streams, translated, waiting, embeddings, upload, release };
}

describe("a gateway under load that gets SIGTERM", () => {
  test("twice at once: every answer ends whole, what no worker was asked for is told, and it exits with 0", async () => {
    const farm = await loadedFarm({ drain: "20s" });
    const { gateway, url, realtime } = farm;
    gateway.child.kill("SIGTERM");
    gateway.child.kill("SIGTERM");
    for (const { answer } of farm.waiting) {
      const { status, body, headers } = await answer;
      expect([status, headers["retry-after"], headers.connection]).toEqual([503, "5", "close"]);
      expect(body).toContain('"code":"draining"');
    }
    await until(() => farm.upload.text().includes('"code":"draining"'), "the upload is told");
    expect(farm.upload.text()).toMatch(/^HTTP\/1\.1 503 /);
    await until(farm.idle.closed, "the idle connection is closed");
    await expect(fetch(`${url}/livez`)).rejects.toThrow("fetch failed");
    realtime.send("still there");
    await realtime.got((text) => text.includes("still there"), "the session goes on");
    farm.release();
    for (const { answer } of farm.streams) {
      const { status, body, complete } = await answer;
      expect([status, complete, body.endsWith("data: [DONE]\n\n")]).toEqual([200, true, true]);
    }
    expect((await farm.translated.answer).body).toMatch(/event: message_stop\ndata: .*\n\n$/);
    for (const { answer } of farm.embeddings) expect(await answer).toMatchObject({ status: 200, complete: true });
    realtime.close();
    expect(await realtime.closed).toBe(1005);
    expect(await gateway.ended).toBe(0);
    expect(gateway.output()).not.toMatch(/failed inside|"level":"error"/);
  });

  test("cuts what does not end within `drain`, and says so", async () => {
    const farm = await loadedFarm({ drain: "300ms" });
    farm.gateway.child.kill("SIGTERM");
    for (const { answer } of farm.streams) expect((await answer).body).toMatch(/data: \{"error":.*"code":"draining"/);
    expect((await farm.translated.answer).body).toMatch(/event: error\ndata: .*stopped before the answer was complete/);
    for (const { answer } of farm.embeddings) expect((await answer).body).toContain('"code":"draining"');
    expect(await farm.realtime.closed).toBe(1006);
    expect(await farm.gateway.ended).toBe(0);
  });

  test("and once more later: ends at once", async () => {
    const engine = await startTestEngine(cleanup, { models: [{ name: "m", loaded: true }], tokensPerSecond: 1 });
    const { gateway } = await startTestGateway(cleanup, { a: engine.url }, { drain: "1m" });
    const asked = askChat(gateway.url, "m", { max_tokens: 500 });
    await asked.firstByte;
    gateway.child.kill("SIGTERM");
    // The first second's signals count as one.
    await until(() => {
      gateway.child.kill("SIGTERM");
      return gateway.child.exitCode !== null;
    }, "the end");
    expect(await gateway.ended).toBe(1);
    expect((await asked.answer).complete).toBe(false);
  });

  test("before its first polls are over: turns away who waits for them", async () => {
    const silent = cleanup.add(createServer(), (server) => server.close());
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port: workerPort } = silent.address() as { port: number };
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const workers = [{ name: "a", url: `http://127.0.0.1:${workerPort}` }];
    const health = { interval: "1m", timeout: "30s" };
    const gateway = await cleanup.program("gateway", { listen: { port }, health, workers }, url);
    const asked = askChat(url, "m");
    await until(async () => {
      const { requests } = await getJson<{ requests: object[] }>(`${url}/farm/requests`);
      return requests.length === 1;
    }, "it waits");
    expect(await gateway.stop()).toBe(0);
    expect((await asked.answer).body).toContain('"code":"draining"');
  });
});

describe("a gateway that gets SIGHUP", () => {
  test("reads its file again, goes on with its streams, and can be stopped while it does", async () => {
    const engine = await startTestEngine(cleanup, { models: [{ name: "m", loaded: true }], tokensPerSecond: 40 });
    const { gateway } = await startTestGateway(cleanup, { a: engine.url });
    const asked = askChat(gateway.url, "m", { max_tokens: 80 });
    await asked.firstByte;
    const text = await readFile(gateway.file, "utf8");
    gateway.child.kill("SIGHUP");
    await until(() => gateway.stdout().includes("the file sets nothing new"), "it has looked");
    await writeFile(gateway.file, `${text}drain: 7m\n`);
    gateway.child.kill("SIGHUP");
    gateway.child.kill("SIGTERM");
    gateway.child.kill("SIGHUP");
    expect((await asked.answer).body).toMatch(/data: \[DONE\]\n\n$/);
    expect(await gateway.ended).toBe(0);
  });
});

describe("a gateway whose terminal is closed", () => {
  test("lets its stream end, and then is gone", async () => {
    const engine = await startTestEngine(cleanup, { models: [{ name: "m", loaded: true }], tokensPerSecond: 40 });
    const [port = 0] = await freePorts(1);
    const folder = await cleanup.folder();
    const file = join(folder, "gateway.yaml");
    await writeFile(file, `listen: { port: ${port} }\nworkers: [{ name: a, url: "${engine.url}" }]\n`);
    const command = `'${process.execPath}' '${FARMGATE}' gateway --config '${file}'`;
    const terminal = spawn(TERMINAL, ["-qec", command, "/dev/null"], { stdio: ["pipe", "pipe", "ignore"] });
    cleanup.add(terminal, (child) => child.kill("SIGKILL"));
    terminal.stdout.resume();
    const url = `http://127.0.0.1:${port}`;
    await until(
      () =>
        fetch(`${url}/readyz`).then(
          ({ ok }) => ok,
          () => false,
        ),
      "it is up",
    );
    const asked = askChat(url, "m", { max_tokens: 60 });
    await asked.firstByte;
    const before = await processesOf(file);
    expect(before.length).toBeGreaterThan(0);
    terminal.kill("SIGKILL");
    expect((await asked.answer).body).toMatch(/\[DONE\]\n\n$/);
    await until(async () => (await processesOf(file)).length === 0, "it is gone");
  });
});
