import { request } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { startAllKindsFarm, startKinds } from "../harness/all-kinds-farm.ts";
import { getJson } from "../harness/ask.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { until } from "../harness/until.ts";
import { RealtimeClient } from "../harness/web-socket.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());

type Farm = Awaited<ReturnType<typeof startAllKindsFarm>>;
interface Live {
  requests: { id: string; api: string; model: string; worker: string | null; phase: string }[];
}
const liveOf = async ({ url }: Farm) => (await getJson<Live>(`${url}/farm/requests`)).requests;

async function idle(farm: Farm): Promise<void> {
  await until(async () => {
    const workers = await farm.farm();
    return (await liveOf(farm)).length === 0 && workers.every(({ inflight }) => inflight === 0);
  }, "nothing is in flight");
}

async function converse(client: RealtimeClient): Promise<void> {
  client.send("hello \u{1F600}");
  await client.got((text) => text.includes("hello \u{1F600}"), "the echo");
  client.send(new Uint8Array([0, 1, 255]));
  await client.got((text) => text === "0001ff", "the bytes");
  client.send("x".repeat(300_000));
  await client.got((text) => text.length > 300_000, "what is long");
  client.send('{"type":"response.create"}');
  await client.got((text) => text.includes("response.done"), "a response");
}

/** An upgrade's answer in HTTP. */
function refusal(url: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const upgrade = { connection: "Upgrade", upgrade: "websocket", "sec-websocket-version": "13" };
    const asked = request(url, {
      headers: { ...upgrade, "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==", ...headers },
    });
    asked.on("upgrade", () => reject(new Error("upgraded")));
    asked.on("error", reject);
    asked.on("response", (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (piece: string) => (body += piece));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    asked.end();
  });
}

describe("a realtime session", () => {
  test("goes to the worker that can hold it, counts as one request, and ends as its caller ends it", async () => {
    const farm = await startAllKindsFarm(cleanup, { models: { aliases: { voice: "b-sound" } } });
    for (const [model, worker, { seen, engine }] of [
      ["voice", "bare", farm.bare],
      ["x-sound", "box", farm.attached],
    ] as const) {
      const client = await new RealtimeClient(`${farm.url}/v1/realtime?intent=a%20b&model=${model}`).opened();
      await converse(client);
      const target = `/v1/realtime?intent=a%20b&model=${model === "voice" ? "b-sound" : model}`;
      expect(seen.at(-1)).toMatchObject({ url: target, headers: { host: new URL(engine.url).host } });
      expect(await liveOf(farm)).toMatchObject([{ api: "realtime", worker, phase: "answering" }]);
      expect((await farm.farm()).find(({ name }) => name === worker)?.inflight).toBe(1);
      const health = await getJson<{ inflight: number }>(`${farm.agentUrl}/health`);
      expect(health.inflight).toBe(worker === "box" ? 1 : 0);
      client.close();
      expect(await client.closed).toBe(1005);
      await idle(farm);
      await until(async () => (await getJson<{ inflight: number }>(`${farm.agentUrl}/health`)).inflight === 0, "free");
    }
    const metrics = await (await fetch(`${farm.url}/metrics`)).text();
    expect(metrics).toMatch(/farmgate_requests_total\{[^}]*api="realtime"[^}]*status="101"/);
  });

  test("waits at the worker while its slots are taken, and is let go when it leaves meanwhile", async () => {
    const farm = await startAllKindsFarm(cleanup);
    const held = [1, 2].map(() => new RealtimeClient(`${farm.url}/v1/realtime?model=x-sound`));
    for (const client of held) await client.opened();
    const waiting = new RealtimeClient(`${farm.url}/v1/realtime?model=x-sound`);
    const leaving = new RealtimeClient(`${farm.url}/v1/realtime?model=x-sound`);
    const depth = async () => (await getJson<{ queue_depth: number }>(`${farm.agentUrl}/health`)).queue_depth;
    await until(async () => (await depth()) === 2, "two wait");
    leaving.close();
    await until(async () => (await depth()) === 1, "one has left");
    held[0]?.close();
    await waiting.opened();
    for (const client of [...held, waiting]) client.close();
    expect(await Promise.all([...held, waiting].map((client) => client.closed))).toEqual([1005, 1005, 1005]);
    await idle(farm);
  });

  test("is cancelled from /farm/requests, and ends when its worker is killed", async () => {
    const farm = await startAllKindsFarm(cleanup);
    for (const model of ["b-sound", "x-sound"]) {
      const client = await new RealtimeClient(`${farm.url}/v1/realtime?model=${model}`).opened();
      const [live] = await liveOf(farm);
      const cancelled = await fetch(`${farm.url}/farm/requests/${live?.id}`, { method: "DELETE" });
      expect(cancelled.ok).toBe(true);
      expect(await client.closed).toBe(1006);
      await idle(farm);
    }
    const bare = await new RealtimeClient(`${farm.url}/v1/realtime?model=b-sound`).opened();
    const box = await new RealtimeClient(`${farm.url}/v1/realtime?model=x-sound`).opened();
    await farm.bare.engine.close();
    expect(await bare.closed).toBe(1006);
    farm.agent.child.kill("SIGKILL");
    expect(await box.closed).toBe(1006);
    await idle(farm);
  });

  test("ends with the gateway's drain time, and with the agent's", async () => {
    const farm = await startAllKindsFarm(cleanup, { drain: "300ms" });
    const direct = await new RealtimeClient(`${farm.agentUrl}/v1/realtime?model=x-sound`).opened();
    const client = await new RealtimeClient(`${farm.url}/v1/realtime?model=b-sound`).opened();
    const ended = farm.gateway.stop();
    expect(await client.closed).toBe(1006);
    expect(await ended).toBe(0);
    expect(await farm.agent.stop()).toBe(0);
    expect(await direct.closed).toBe(1006);
  });
});

describe("a request for a session", () => {
  test("takes the key from where a browser can put it, and shows it to no worker", async () => {
    const { engine, seen } = await startKinds(cleanup, "b");
    const [port = 0] = await freePorts(1);
    const url = `http://127.0.0.1:${port}`;
    const keys = [{ name: "page", key: "page-key", models: ["b-sound"] }];
    await cleanup.program("gateway", { listen: { port }, keys, workers: [{ name: "bare", url: engine.url }] }, url);
    await until(async () => (await fetch(`${url}/readyz`)).ok, "the gateway knows its worker");
    const protocols = ["realtime", "openai-insecure-api-key.page-key", "openai-beta.realtime-v1"];
    const client = await new RealtimeClient(`${url}/v1/realtime?model=b-sound`, { protocols }).opened();
    expect(client.protocol).toBe("realtime");
    const headers = seen.at(-1)?.headers;
    expect(headers?.["sec-websocket-protocol"]).toBe("realtime, openai-beta.realtime-v1");
    expect(JSON.stringify(headers)).not.toContain("page-key");
    client.close();
    await client.closed;
    const session = `${url}/v1/realtime?model=b-sound`;
    expect((await refusal(session)).status).toBe(401);
    expect((await refusal(session, { "sec-websocket-protocol": "openai-insecure-api-key.wrong" })).status).toBe(401);
    const other = await refusal(`${url}/v1/realtime?model=b-draw`, { authorization: "Bearer page-key" });
    expect(other).toMatchObject({ status: 403, body: expect.stringContaining("model_not_allowed") });
  });

  test("is answered in HTTP where there is no such session, and never left hanging", async () => {
    const farm = await startAllKindsFarm(cleanup);
    for (const [url, status, body] of [
      [`${farm.url}/v1/realtime`, 400, "needs the model"],
      [`${farm.url}/v1/realtime?model=nobody`, 404, "model_not_found"],
      [`${farm.url}/v1/realtime?model=b-talk`, 404, "No worker serves realtime"],
      [`${farm.url}/v1/chat/completions?model=b-talk`, 404, "no WebSocket at /v1/chat/completions"],
      [`${farm.url}/farm/workers`, 404, "no WebSocket"],
      [`${farm.agentUrl}/v1/realtime?model=nobody`, 404, "model_not_found"],
      [`${farm.agentUrl}/v1/realtime?model=x-talk`, 501, "not served as realtime"],
      [`${farm.agentUrl}/health`, 404, "no WebSocket"],
    ] as const) {
      expect({ url, ...(await refusal(url)) }).toMatchObject({ url, status, body: expect.stringContaining(body) });
    }
    for (const base of [farm.url, farm.agentUrl]) {
      const page = { origin: "https://elsewhere.example" };
      expect((await refusal(`${base}/v1/realtime?model=x-sound`, page)).status).toBe(403);
      const plain = await fetch(`${base}/v1/realtime?model=x-sound`);
      expect(plain.status).toBe(426);
      expect(plain.headers.get("upgrade")).toBe("websocket");
    }
    // What the worker says in HTTP is passed on.
    await farm.bare.engine.setFail(["status-400@b-sound"]);
    const refused = await refusal(`${farm.url}/v1/realtime?model=b-sound`);
    expect(refused).toMatchObject({ status: 400, body: expect.stringContaining("simulated failure") });
    await idle(farm);
  });
});
