import { chmod, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { Cleanup, type FarmgateProcess, runFarmgate } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { startTestGateway } from "../harness/gateway-farm.ts";
import { chunk, LAST_CHUNK, type RawWorker, startRawWorker, STREAM_HEAD, whole } from "../harness/raw-worker.ts";
import { until } from "../harness/until.ts";

const MARK = "marked-prompt-7f3a";
const KEY = "a-key-that-nobody-else-has";
const cleanup = new Cleanup();
afterEach(() => cleanup.run());
beforeAll(() => {
  process.env["FARMGATE_LOG_LEVEL"] = "trace";
});

/** A gateway over the raw worker, once bare and once behind an agent; all log all that they can. */
async function start() {
  const worker = await startRawWorker(cleanup);
  const [port = 0] = await freePorts(1);
  const agentUrl = `http://127.0.0.1:${port}`;
  const engines = [
    { url: worker.url, engine: "vllm", poll: "200ms", slots: 64, models: { m: { aliases: ["attached"] } } },
  ];
  const agent = await cleanup.program("agent", { name: "box", listen: { port }, engines }, agentUrl);
  const workers = [
    { name: "bare", url: worker.url, engine: "vllm" },
    { name: "box", url: agentUrl, engine: "agent" },
  ];
  const { gateway, url } = await startTestGateway(cleanup, {}, { workers, limits: { body: "1mb" } });
  return { worker, agent, gateway, url };
}

const messages = [{ role: "user", content: MARK }];
const json = { "content-type": "application/json" };

/** Every line of its log is one JSON text without what moves a terminal, and tells nothing of `secret`. */
function inOrder(program: FarmgateProcess, secret: string): void {
  const lines = program
    .stdout()
    .split("\n")
    .filter((line) => line !== "");
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    expect(JSON.parse(line)).toBeDefined();
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/);
  }
  expect(program.output()).not.toContain(secret);
}

/** What the raw worker answers, in ways that quote what it was asked. */
const ANSWERS: Record<string, (socket: RawWorker["asked"][number]["socket"]) => void> = {
  good: (socket) => socket.write(whole(JSON.stringify({ id: "x", choices: [{ message: { content: MARK } }] }))),
  "its caller's fault": (socket) =>
    socket.end(
      `HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"error":{"message":"cannot read ${MARK}"}}`,
    ),
  "its own fault": (socket) => socket.end(`HTTP/1.1 500 Oh\r\nconnection: close\r\n\r\nTraceback: KeyError '${MARK}'`),
  "a load that failed": (socket) =>
    socket.end(
      `HTTP/1.1 503 Oh\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"error":{"message":"busy with ${MARK}"}}`,
    ),
  "no HTTP": (socket) => socket.end(`${MARK}\r\n\r\n`),
  "a broken head": (socket) => socket.end(`HTTP/1.1 200 OK\r\n${MARK}\u0000: x\r\n\r\n`),
  "no JSON": (socket) => socket.write(whole(`{"choices": ${MARK}`)),
  "a stream": (socket) => {
    socket.write(STREAM_HEAD);
    socket.write(chunk(`data: {"choices":[{"delta":{"content":"${MARK}"}}]}\n\ndata: [DONE]\n\n`));
    socket.write(LAST_CHUNK);
  },
  "a stream of nonsense": (socket) => {
    socket.write(STREAM_HEAD);
    socket.write(chunk(`data: {${MARK}\n\ndata: {"error":{"message":"${MARK}"}}\n\n`));
    socket.write(LAST_CHUNK);
  },
  "a stream that breaks": (socket) => {
    socket.write(STREAM_HEAD);
    socket.end(chunk(`data: {"choices":[{"delta":{"content":"${MARK}"}}]}\n\ndata: {"a":"${MARK}`));
  },
};

describe("at the most talkative level", () => {
  test("no log tells what was asked or answered, whatever came of it, and what a caller chose stays in one line", async () => {
    const { worker, agent, gateway, url } = await start();
    const post = async (path: string, body: string | object, headers: Record<string, string> = json) => {
      const text = typeof body === "string" ? body : JSON.stringify(body);
      const answer = await fetch(url + path, { method: "POST", headers, body: text }).catch(() => null);
      await answer?.text().catch(() => "");
    };
    const bodies: [path: string, body: object][] = [
      ["/v1/chat/completions", { messages }],
      ["/v1/messages", { messages, max_tokens: 9, system: MARK }],
      ["/v1/responses", { input: MARK }],
      ["/api/chat", { messages }],
      ["/api/generate", { prompt: MARK }],
      ["/v1/embeddings", { input: [MARK] }],
      ["/v1/rerank", { query: MARK, documents: [MARK] }],
    ];
    for (const [name, answer] of Object.entries(ANSWERS)) {
      worker.answer = ({ socket }) => answer(socket);
      const stream = name.includes("stream");
      const asked = bodies.flatMap(([path, body]) =>
        ["m@bare", "m@box"].map((model) => post(path, { model, stream, ...body })),
      );
      await Promise.all(asked);
    }
    worker.answer = ANSWERS["good"] === undefined ? worker.answer : ({ socket }) => ANSWERS["good"]?.(socket);
    const nonsense = [
      `{"model":"m","messages":${MARK}`,
      `{"model":{"a":"${MARK}"},"messages":[]}`,
      MARK,
      `{"messages":[{"content":"${MARK}"}]}`,
      `{"model":"m","messages":"${MARK}","max_tokens":"${MARK}"}`,
      `{"model":"m","messages":[{"role":"${MARK}","content":[{"type":"${MARK}"}]}]}`,
      `{"model":"m","x":"${MARK}","messages":${"[".repeat(5_000)}`,
      `{"model":"m","x":"${MARK}${"x".repeat(1_100_000)}"}`,
    ];
    await Promise.all(nonsense.flatMap((body) => bodies.map(([path]) => post(path, body))));
    await post("/v1/audio/transcriptions", `--x\r\ncontent-disposition: form-data; name="${MARK}\r\n\r\n${MARK}`, {
      "content-type": "multipart/form-data; boundary=x",
    });
    await post(`/v1/chat/completions?prompt=${MARK}`, { model: "m", messages });
    await post("/v1/chat/completions", { model: "m", messages }, { ...json, "x-farmgate-priority": MARK });
    // Names that would write lines of their own, or move a terminal.
    const nasty = [
      'a\nb"}\n{"level":"error","msg":"forged',
      "\u001b[2J\u001b]0;x\u0007",
      "\u009b31m\u202e\u2028",
      "x".repeat(20_000),
    ];
    for (const model of nasty) {
      const asked = (base: string) =>
        fetch(`${base}/v1/chat/completions`, {
          method: "POST",
          headers: { ...json, "x-request-id": model.replace(/[^ -~]/g, "?").slice(0, 200) },
          body: JSON.stringify({ model, messages: [] }),
        });
      for (const base of [url, agent.url]) expect([400, 404]).toContain((await asked(base)).status);
      const path = encodeURIComponent(model.slice(0, 500));
      for (const target of [`/v1/models/${path}`, `/${path}`, `/farm/workers/${path}/drain`]) {
        await fetch(url + target, { method: target.endsWith("drain") ? "POST" : "GET" });
      }
    }
    // One that leaves in the middle.
    worker.answer = ({ socket }) => void socket.write(STREAM_HEAD + chunk(`data: ${MARK}\n\n`).toString());
    const leaving = new AbortController();
    const body = JSON.stringify({ model: "m", messages, stream: true });
    const left = await fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: json,
      body,
      signal: leaving.signal,
    });
    leaving.abort();
    await left.text().catch(() => "");
    await until(
      () => gateway.stdout().includes("client_closed") || gateway.stdout().includes('"status":499'),
      "it left",
    );
    await gateway.stop();
    await agent.stop();
    inOrder(gateway, MARK);
    inOrder(agent, MARK);
    expect(gateway.stdout().split("\n").length).toBeGreaterThan(100);
    const lines = (gateway.stdout() + agent.stdout()).split("\n").filter((line) => line !== "");
    expect(lines.map((line) => JSON.parse(line) as { msg: string }).filter(({ msg }) => msg === "forged")).toEqual([]);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(4_000);
    for (const file of await readdir(join(agent.folder, ".farmgate"), { recursive: true }).catch(() => [])) {
      const text = await readFile(join(agent.folder, ".farmgate", file), "utf8").catch(() => "");
      expect(text).not.toContain(MARK);
    }
  });
});

test("a swap script gets a model's name as one word, and no secret by any name", async () => {
  const folder = await cleanup.folder();
  const [port = 0, engine = 0] = await freePorts(2);
  const script = `#!${process.execPath}\nconsole.log(JSON.stringify({ args: process.argv.slice(2), env: process.env }));\nprocess.exitCode = 3;\n`;
  await writeFile(join(folder, "swap.mjs"), script);
  await chmod(join(folder, "swap.mjs"), 0o755);
  const names = ["; touch hit", "$(touch hit)", "a --help", "*'\"b"];
  const config = {
    name: "box",
    listen: { port },
    keys: [{ name: "gateway", key: "${FARM_KEY}", admin: true }],
    swap: { command: "./swap.mjs", timeout: "5s" },
    models: names.map((name) => ({ name, url: `http://127.0.0.1:${engine}` })),
  };
  await writeFile(join(folder, "agent.yaml"), stringify(config));
  const env = { FARM_KEY: KEY, COPY_OF_IT: KEY, HEADER: `Bearer ${KEY}`, KEPT: "yes" };
  const agent = cleanup.add(runFarmgate(["agent", "--config", join(folder, "agent.yaml")], { env }), (one) =>
    one.stop(),
  );
  await until(() => agent.stdout().includes("listening on"), "the agent listens");
  const headers = { authorization: `Bearer ${KEY}` };
  for (const name of names) {
    const path = `http://127.0.0.1:${port}/models/${encodeURIComponent(name)}`;
    expect((await fetch(`${path}/load`, { method: "POST", headers })).status).toBeLessThan(300);
    let text = "";
    await until(async () => (text = await (await fetch(`${path}/log`, { headers })).text()).includes("{"), "it ran");
    const told = JSON.parse(text.slice(text.indexOf("{"))) as { args: string[]; env: Record<string, string> };
    expect(told.args).toEqual([name]);
    expect(told.env).toMatchObject({ FARMGATE_MODEL: name, KEPT: "yes" });
    expect(Object.values(told.env).filter((value) => value.includes(KEY))).toEqual([]);
  }
  expect(await readdir(folder)).not.toContain("hit");
  await agent.stop();
  expect(agent.output()).not.toContain(KEY);
});
