import { connect } from "node:net";
import { join } from "node:path";
import { writeFile } from "node:fs/promises";
import { afterEach, expect, it } from "vitest";
import { hashedKey } from "@farmgate/shared";
import { Cleanup, runFarmgate } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { startTestEngine } from "../harness/gateway-farm.ts";
import { until } from "../harness/until.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

const HASH = hashedKey("hidden-of-bob");
const KEYS = [
  { name: "alice", key: "hidden-of-alice", admin: true },
  { name: "bob", key: HASH, models: ["m"] },
];
/** The keys of both, those of the workers, what callers send by mistake, and a prompt. */
const SECRET = /hidden|c2VjcmV0/i;
const WRONG = "hidden-wrong-key";

/** Every way to come with a key, right or wrong, in the right place or not; all that was answered. */
async function pester(url: string): Promise<string> {
  const ask = async (method: string, path: string, headers: Record<string, string>, body: string | null = null) => {
    const answer = await fetch(url + path, { method, headers, body });
    return JSON.stringify([...answer.headers]) + (await answer.text());
  };
  const chat = '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"hidden prompt"}]}';
  const told = ["hidden-of-alice", "hidden-of-bob", WRONG, HASH].flatMap((key) => {
    const headers = { authorization: `Bearer ${key}` };
    const dry = { ...headers, "x-farmgate-dry-run": "1" };
    const inside = ["/metrics", "/v1/models", "/farm/workers", "/farm/models", "/farm/requests", "/catalog"];
    return [
      ...inside.map((path) => ask("GET", path, headers)),
      ...["x-api-key", "cookie"].map((name) => ask("POST", "/v1/chat/completions", { [name]: key }, chat)),
      ask("POST", "/v1/chat/completions", dry, chat),
      ask("POST", "/farm/explain", headers, '{"model":"m"}'),
      ask("GET", `/v1/models?key=${key}`, {}),
      ask("GET", `/nowhere?api_key=${key}`, {}),
      ask("POST", `/v1/chat/completions?api_key=${key}`, { "x-api-key": "hidden-of-alice" }, chat),
      ask("PUT", `/v1/chat/completions?key=${key}`, {}),
      ask("POST", "/models/m/load", { authorization: `Basic ${btoa(`secret:${key}`)}` }),
    ];
  });
  await upgrade(url, `/v1/realtime?model=m&api_key=${WRONG}`);
  await upgrade(url, `/nowhere?api_key=${WRONG}`);
  return (await Promise.all(told)).join("\n");
}

/** A request for a WebSocket that is refused, with a key among its protocols. */
function upgrade(url: string, path: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket
      .on("close", () => resolve())
      .on("error", () => {})
      .resume();
    const offer = `sec-websocket-protocol: openai-insecure-api-key.${WRONG}\r\nsec-websocket-version: 13`;
    const ask = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==";
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n${ask}\r\n${offer}\r\n\r\n`);
  });
}

it("neither a key nor its hash, nor a worker's, is ever logged or shown, in no place where it was sent", async () => {
  const engine = await startTestEngine(cleanup, { models: ["m"] });
  const [agentPort = 0] = await freePorts(1);
  const agentUrl = `http://127.0.0.1:${agentPort}`;
  const debug = { FARMGATE_LOG_LEVEL: "trace" };
  const attached = { url: engine.url, engine: "llama-server", apiKey: "hidden-of-engine" };
  const agentFile = { listen: { port: agentPort }, keys: KEYS, engines: [attached] };
  const agent = await cleanup.program("agent", agentFile, agentUrl, debug);
  const workers = [
    { name: "box", url: agentUrl, engine: "agent", apiKey: "hidden-of-alice" },
    { name: "bare", url: engine.url, apiKey: "hidden-of-engine" },
    { name: "away", url: "http://127.0.0.1:1", apiKey: "hidden-of-away" },
  ];
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const file = { listen: { port }, health: { interval: "200ms", timeout: "1s" }, workers, keys: KEYS };
  const gateway = await cleanup.program("gateway", file, url, debug);
  await until(async () => (await fetch(`${url}/readyz`)).ok, "its catalogues are there");
  const told = [await pester(url), await pester(agentUrl)].join("\n");
  // A change of the file is told as well.
  await writeFile(gateway.file, JSON.stringify({ ...file, keys: [...KEYS, { name: "carl", key: "hidden-of-carl" }] }));
  await until(async () => gateway.output().includes("configuration applied"), "the change is applied");
  await Promise.all([gateway.stop(), agent.stop()]);
  expect(gateway.output()).toMatch(/"status":401/);
  expect(agent.output()).toMatch(/"status":401/);
  for (const text of [told, gateway.output(), agent.output()]) expect(text).not.toMatch(SECRET);
  for (const text of [told, gateway.output(), agent.output()]) expect(text).not.toContain(HASH.slice(7));
}, 60_000);

it("`check` names what is wrong with a key without repeating it", async () => {
  const folder = await cleanup.folder();
  const file = join(folder, "gateway.yaml");
  const keys = [
    "hidden 1",
    "sha256:hidden",
    "hidden\n",
    "${HIDDEN_KEY}",
    "hidden-a",
    "hidden-a",
    hashedKey("hidden-a"),
  ];
  const listed = keys.map((key, i) => ({ name: `k${i}`, key }));
  await writeFile(
    file,
    JSON.stringify({ workers: [{ name: "w", url: "http://u:hidden@h", apiKey: "hid den" }], keys: listed }),
  );
  const check = runFarmgate(["check", file], { env: { HIDDEN_KEY: "hidden 2" } });
  expect(await check.ended).toBe(1);
  expect(check.output()).toMatch(/keys\[1\]\.key: .*64 hex digits[^]*keys\[6\]\.key: .*same value/);
  expect(check.output()).not.toMatch(/hidden|hid den/);
  expect(check.output()).not.toContain(hashedKey("hidden-a").slice(7));
});
