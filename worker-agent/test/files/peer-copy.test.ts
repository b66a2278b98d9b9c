import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer, connect, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { type Clock, seededRandom } from "@farmgate/shared";
import { createLog, createSystemClock } from "@farmgate/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { agentConfigSchema, type RunningAgent, startAgent } from "../../src/index.ts";
import { until } from "../support/conditions.ts";
import { tempDirectory } from "../support/agent-rig.ts";

const KEY = "k-peer-0123456789abcdef";
const NAME = "llama/weights q4.gguf";
const weights = randomBytes(3_000_000);
const sha = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

interface AgentSetup {
  directory?: string;
  files?: object;
  models?: object[];
  keys?: object[];
  clock?: Clock;
}

const model = (files: unknown[], name = "m") => ({ name, url: "http://127.0.0.1:9", command: "true", files });

async function agent(name: string, { directory, files, models, keys, clock }: AgentSetup): Promise<RunningAgent> {
  const running = await startAgent({
    config: agentConfigSchema.parse({
      name,
      listen: { port: 0 },
      keys: keys ?? [{ name: "farm", key: KEY }],
      files: { directory: "models", ...files },
      models: models ?? [model([NAME])],
      drain: "0s",
    }),
    directory: directory ?? (await folder({})),
    environment: process.env,
    clock: clock ?? createSystemClock(),
    random: seededRandom(1),
    log: createLog("agent", "silent"),
    version: "0.1.0",
  });
  onTestFinished(() => running.close());
  return running;
}

/** A configuration's folder with these files of models in it. */
async function folder(files: Record<string, Buffer>): Promise<string> {
  const directory = await tempDirectory();
  await mkdir(join(directory, "models"));
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(directory, "models", path)), { recursive: true });
    await writeFile(join(directory, "models", path), bytes);
  }
  return directory;
}

/** Passes connections on; of those in `cuts` only so many bytes of the answer, then they break. Those with 0 pass whole. */
async function cuttingProxy(target: string, cuts: number[]) {
  const server = createServer((caller) => {
    const engine = connect(Number(new URL(target).port), "127.0.0.1");
    let left = Number.POSITIVE_INFINITY;
    caller.on("error", () => {}).on("close", () => engine.destroy());
    engine.on("error", () => {}).on("close", () => caller.destroy());
    caller.on("data", (bytes: Buffer) => {
      if (bytes.toString("latin1").startsWith("GET /files/")) left = cuts.shift() ?? Number.POSITIVE_INFINITY;
      engine.write(bytes);
    });
    engine.on("data", (bytes: Buffer) => {
      caller.write(bytes.subarray(0, left));
      left -= bytes.length;
      if (left <= 0) caller.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A peer that tells of no limit, and sends so many bytes at a time, each after `before`. How many went, by request. */
async function drippingPeer(piece: number, before = () => {}) {
  const sent: number[] = [];
  const entry = { path: NAME, models: ["m"], state: "here", bytes: weights.length, sha256: sha(weights) };
  const server = createHttpServer((request, response) => {
    if (request.url === "/files") return void response.end(JSON.stringify({ files: [entry] }));
    const first = Number(/^bytes=(\d+)-/.exec(request.headers.range ?? "")?.[1]);
    const range = `bytes ${first}-${weights.length - 1}/${weights.length}`;
    response.writeHead(206, { "content-range": range, "content-length": weights.length - first });
    const at = sent.push(0) - 1;
    const drip = () => {
      const from = first + (sent[at] ?? 0);
      if (response.destroyed || from >= weights.length) return void response.end();
      before();
      const next = weights.subarray(from, from + piece);
      sent[at] = (sent[at] ?? 0) + next.length;
      response.write(next, () => setTimeout(drip, 20));
    };
    drip();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent };
}

const get = (url: string, headers: Record<string, string> = {}) =>
  fetch(url, { headers: { authorization: `Bearer ${KEY}`, ...headers } });
const entryOf = async ({ url }: RunningAgent) =>
  ((await (await get(`${url}/files`)).json()) as { files: Record<string, unknown>[] }).files[0] ?? {};
const fileUrl = ({ url }: RunningAgent) => `${url}/files/${NAME.split("/").map(encodeURIComponent).join("/")}`;

describe("a model's file that a peer has", () => {
  it("is fetched, over two breaks, and checked", async () => {
    const source = await agent("source", { directory: await folder({ [NAME]: weights }) });
    const cuts = [700_000, 1_200_000];
    const directory = await folder({});
    const peers = [{ url: await cuttingProxy(source.url, cuts), apiKey: KEY }];
    const target = await agent("target", { directory, files: { peers } });
    await until(async () => (await entryOf(target))["state"] === "here");
    expect(cuts).toEqual([]);
    expect(sha(await readFile(join(directory, "models", NAME)))).toBe(sha(weights));
    expect(await entryOf(target)).toMatchObject({ models: ["m"], bytes: weights.length, sha256: sha(weights) });
  });

  it("comes from the peer that can send it soonest: not from one whose limit would make it last", {
    timeout: 20_000,
  }, async () => {
    const directory = await folder({ [NAME]: weights });
    const slow = await agent("slow", { directory, files: { rate: "1mb" } });
    const fast = await agent("fast", { directory });
    for (const source of [slow, fast]) await until(async () => (await entryOf(source))["sha256"] !== null);
    const peers = [slow, fast].map(({ url }) => ({ url, apiKey: KEY }));
    const target = await agent("target", { files: { peers } });
    await until(async () => (await entryOf(target))["state"] === "here");
    const out = async ({ url }: RunningAgent) =>
      /direction="out"} (\d+)/.exec(await (await get(`${url}/metrics`)).text());
    expect([await out(slow), (await out(fast))?.[1]]).toEqual([null, String(weights.length)]);
  });

  it("comes in its first parts from each that was not measured yet, and then from the faster one", {
    timeout: 20_000,
  }, async () => {
    // Time goes by with the slow one's pieces alone: a busy machine does not make either of them slower.
    let now = 0;
    const clock: Clock = { ...createSystemClock(), now: () => now };
    const slow = await drippingPeer(4_096, () => (now += 3_000));
    const fast = await drippingPeer(weights.length);
    const target = await agent("target", { clock, files: { peers: [{ url: slow.url }, { url: fast.url }] } });
    await until(async () => (await entryOf(target))["state"] === "here");
    expect(slow.sent).toHaveLength(1);
    expect(slow.sent[0]).toBeLessThan(weights.length / 2);
    expect(fast.sent.length).toBeGreaterThan(0);
    expect(await entryOf(target)).toMatchObject({ bytes: weights.length, sha256: sha(weights) });
  });

  it.each([
    ["what an earlier try brought", weights.subarray(0, 2_500_000), { state: "here", sha256: sha(weights) }],
    ["another file's", randomBytes(1_000_000), { state: "failed", error: expect.stringMatching(/another SHA-256/) }],
  ])("is gone on with from what is here; where that is %s", async (_, before, end) => {
    const source = await agent("source", { directory: await folder({ [NAME]: weights }) });
    const directory = await folder({ [`${NAME}.target.part`]: before });
    const target = await agent("target", { directory, files: { peers: [{ url: source.url, apiKey: KEY }] } });
    await until(async () => ["here", "failed"].includes(String((await entryOf(target))["state"])));
    expect(await entryOf(target)).toMatchObject(end);
    const metrics = await (await get(`${source.url}/metrics`)).text();
    expect(metrics).toContain(`direction="out"} ${weights.length - before.length}\n`);
  });

  it("is not taken when it is not the one that the owner named", async () => {
    const source = await agent("source", { directory: await folder({ [NAME]: weights }) });
    const directory = await folder({});
    const files = [{ path: NAME, sha256: sha(Buffer.from("other")) }];
    const target = await agent("target", {
      directory,
      files: { peers: [{ url: source.url, apiKey: KEY }] },
      models: [model(files)],
    });
    await until(async () => (await entryOf(target))["state"] === "failed");
    expect(await entryOf(target)).toMatchObject({ error: expect.stringMatching(/another SHA-256/) });
  });

  it("is sent in the one range that is asked for, and whole to whom has another one", async () => {
    const source = await agent("source", { directory: await folder({ [NAME]: weights }) });
    await until(async () => (await entryOf(source))["sha256"] === sha(weights));
    const piece = await get(fileUrl(source), { range: "bytes=10-19", "if-range": `"${sha(weights)}"` });
    expect([piece.status, piece.headers.get("content-range")]).toEqual([206, `bytes 10-19/${weights.length}`]);
    expect(Buffer.from(await piece.arrayBuffer())).toEqual(weights.subarray(10, 20));
    const other = await get(fileUrl(source), { range: "bytes=10-19", "if-range": '"stale"' });
    expect([other.status, Buffer.from(await other.arrayBuffer()).equals(weights)]).toEqual([200, true]);
    const behind = await get(fileUrl(source), { range: `bytes=${weights.length}-` });
    expect([behind.status, behind.headers.get("content-range")]).toEqual([416, `bytes */${weights.length}`]);
    const head = await fetch(fileUrl(source), { method: "HEAD", headers: { authorization: `Bearer ${KEY}` } });
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(weights.length)]);
  });
});

describe("files of models", () => {
  it("are for callers with a key alone, and of the models that it may use", async () => {
    const directory = await folder({ [NAME]: weights });
    const keyless = await agent("open", { directory, keys: [] });
    for (const path of ["/files", `/files/${encodeURIComponent(NAME)}`]) {
      const answer = await fetch(`${keyless.url}${path}`);
      expect([answer.status, await answer.text()]).toEqual([403, expect.stringMatching(/with a key/)]);
    }
    const keys = [
      { name: "farm", key: KEY, models: ["other-*"] },
      { name: "all", key: "k-all-0123456789abcdefgh" },
    ];
    const picky = await agent("picky", { directory, keys });
    expect((await fetch(fileUrl(picky))).status).toBe(401);
    expect([(await get(fileUrl(picky))).status, await (await get(`${picky.url}/files`)).json()]).toEqual([
      404,
      { files: [], sending: { takers: 0, bytes_per_second: 0 } },
    ]);
    expect((await get(fileUrl(picky), { authorization: "Bearer k-all-0123456789abcdefgh" })).status).toBe(200);
  });

  it("are those of configured models, and no others, however the path is spelled", async () => {
    const directory = await folder({ [NAME]: weights, "private.txt": Buffer.from("secret") });
    await writeFile(join(directory, "agent.yaml"), "secret");
    await symlink(join(directory, "agent.yaml"), join(directory, "models", "link.gguf"));
    await symlink(directory, join(directory, "models", "away"));
    const files = [NAME, "link.gguf", "away/agent.yaml"];
    const source = await agent("source", { directory, models: [model(files)] });
    for (const path of [
      "private.txt",
      "../agent.yaml",
      "..%2Fagent.yaml",
      "llama/../private.txt",
      "%2e%2e/agent.yaml",
      "link.gguf",
      "away/agent.yaml",
      "away%2Fagent.yaml",
      "%00",
      `/etc/passwd`,
    ]) {
      const answer = await get(`${source.url}/files/${path}`);
      expect([path, answer.status, await answer.text()]).toEqual([
        path,
        404,
        expect.not.stringMatching(/secret|root:/),
      ]);
    }
  });

  it("hold a model back from loading until they are here, with a word on how far they are", async () => {
    const target = await agent("target", { directory: await folder({}) });
    const answer = await fetch(`${target.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "m", messages: [{ role: "user", content: "Hi" }] }),
    });
    expect([answer.status, await answer.text()]).toEqual([
      503,
      expect.stringMatching(/its file .*q4\.gguf is not here/),
    ]);
    const { models } = (await (await get(`${target.url}/catalog`)).json()) as { models: object[] };
    expect(models).toMatchObject([{ id: "m", temperature: "absent", load_ms: null }]);
  });
});
