import { gzipSync } from "node:zlib";
import { connect } from "node:net";
import { request as httpRequest } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { RunningGateway } from "../../src/index.ts";
import { completes, fakeWorker, refuses } from "../support/fake-worker.ts";
import { agents, chat, configOf, errorOf, runGateway } from "../support/gateway.ts";
import { deferred, until } from "../support/until.ts";

const EVENTS =
  'data: {"c":"é漢😀"}\r\n\r\ndata:{"c":2}\n\n: comment\n\ndata: {"usage":{"prompt_tokens":7}}\n\ndata: [DONE]\n\n';

describe("an answer that is passed on", () => {
  it("has the worker's own bytes and tells where they came from", async () => {
    const worker = await fakeWorker({ m: "warm" }, completes("hi"));
    const gateway = await runGateway({ workers: agents({ "gpu-box": worker }) });
    const response = await chat(gateway, {}, { headers: { "x-request-id": "mine-1" } });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "hi" } }] });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "x-request-id": "mine-1",
      "x-farmgate-worker": "gpu-box",
      "x-farmgate-model": "m",
      "x-farmgate-warmth": "warm",
      "x-farmgate-attempts": "1",
    });
  });

  it("keeps a stream of events byte for byte, wherever its pieces are cut", async () => {
    const bytes = Buffer.from(EVENTS);
    for (const size of [1, 3, 17, bytes.length]) {
      const worker = await fakeWorker({ m: "warm" }, async ({ response }) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        for (let at = 0; at < bytes.length; at += size) {
          response.write(bytes.subarray(at, at + size));
          await new Promise(setImmediate);
        }
        response.end();
      });
      const gateway = await runGateway({ workers: agents({ a: worker }) });
      const response = await chat(gateway, { stream: true });
      expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
      expect(response.headers.get("x-accel-buffering")).toBe("no");
      expect(response.headers.get("cache-control")).toBe("no-cache, no-transform");
    }
  });

  it("comes event by event, its head before the first one", async () => {
    const next = deferred();
    const worker = await fakeWorker({ m: "warm" }, async ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      await next.promise;
      response.write("data: 1\n\n");
    });
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const response = await chat(gateway, { stream: true });
    expect(response.status).toBe(200);
    const reader = response.body?.getReader();
    next.resolve();
    const first = await reader?.read();
    expect(Buffer.from(first?.value ?? []).toString()).toBe("data: 1\n\n");
    await reader?.cancel();
  });

  it("holds the worker back while the caller does not read", async () => {
    let sent = 0;
    const worker = await fakeWorker({ m: "warm" }, ({ response }) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const piece = Buffer.alloc(64 * 1_024, "x");
      const push = () => {
        while (!response.destroyed) {
          sent += piece.length;
          if (!response.write(piece)) break;
        }
      };
      response.on("drain", push);
      push();
    });
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const socket = connect(gateway.port, "127.0.0.1");
    const body = JSON.stringify({ model: "m" });
    socket.write(`POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    socket.pause();
    let before = -1;
    await until("the worker is held back", async () => {
      const still = sent === before && sent > 0;
      before = sent;
      await pause(100);
      return still && sent === before;
    });
    // What three socket buffers of a loopback connection take, and no more.
    expect(sent).toBeLessThan(48 * 1_024 * 1_024);
    const held = sent;
    socket.resume();
    await until("the worker goes on", () => sent > held + 1_024 * 1_024);
    socket.destroy();
  });

  it("has neither hop-by-hop headers nor what is ours to say", async () => {
    const worker = await fakeWorker({ m: "warm" }, ({ response }) => {
      response.writeHead(200, {
        "content-type": "application/json",
        connection: "close, x-hop",
        "x-hop": "1",
        "access-control-allow-origin": "*",
        "set-cookie": "a=b",
        "x-farmgate-worker": "liar",
        "x-own": "kept",
      });
      response.end("{}");
    });
    const gateway = await runGateway({ workers: agents({ honest: worker }) });
    const { headers } = await chat(gateway);
    expect(headers.get("x-own")).toBe("kept");
    expect(headers.get("x-hop")).toBeNull();
    expect(headers.get("access-control-allow-origin")).toBeNull();
    expect(headers.get("set-cookie")).toBeNull();
    expect(headers.get("x-farmgate-worker")).toBe("honest");
  });
});

describe("what a worker gets", () => {
  it("is the caller's body with the worker's own spelling of the model", async () => {
    const worker = await fakeWorker({ "Qwen3:latest": "warm" });
    const gateway = await runGateway({ workers: agents({ a: worker }), models: { aliases: { fast: "qwen3" } } });
    const body = '{ "stream":false,\n"model" : "fast", "messages":[{"role":"user","content":"model"}] }';
    const response = await chat(gateway, body);
    expect(response.headers.get("x-farmgate-model")).toBe("Qwen3:latest");
    expect(worker.asked[0]?.body).toBe(body.replace('"fast"', '"Qwen3:latest"'));
  });

  it("has no credentials of the caller, but the worker's own", async () => {
    const worker = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({
      workers: [{ name: "a", url: worker.url, engine: "agent", apiKey: "worker-secret" }],
      keys: [{ name: "alice", key: "alice-secret" }],
    });
    const headers = {
      authorization: "Bearer alice-secret",
      "x-api-key": "alice-secret",
      cookie: "s=1",
      "x-own": "yes",
    };
    expect((await chat(gateway, {}, { headers })).status).toBe(200);
    const asked = worker.asked[0];
    expect(asked?.headers.authorization).toBe("Bearer worker-secret");
    expect(asked?.headers["x-api-key"]).toBeUndefined();
    expect(asked?.headers.cookie).toBeUndefined();
    expect(asked?.headers["x-own"]).toBe("yes");
    expect(asked?.headers.host).toBe(`127.0.0.1:${worker.port}`);
    expect(asked?.headers["x-farmgate-caller"]).toBe("alice");
    expect(JSON.stringify(asked?.rawHeaders)).not.toContain("alice-secret");
  });

  it("tells an agent the request's id, priority and what is left of its deadline; a bare engine nothing", async () => {
    const agent = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a: agent }) });
    const headers = { "x-request-id": "r1", "x-farmgate-priority": "batch", "x-farmgate-deadline-ms": "9000" };
    await chat(gateway, {}, { headers });
    const told = agent.asked[0]?.headers ?? {};
    expect(told).toMatchObject({ "x-request-id": "r1", "x-farmgate-priority": "batch", "x-farmgate-hop": "1" });
    expect(Number(told["x-farmgate-deadline-ms"])).toBeGreaterThan(1_000);
    expect(Number(told["x-farmgate-deadline-ms"])).toBeLessThanOrEqual(9_000);

    const engine = await fakeWorker({});
    const bare = await runGateway({ workers: [{ name: "e", url: engine.url, engine: "openai" }] });
    await chat(bare, {}, { headers });
    const names = Object.keys(engine.asked[0]?.headers ?? {});
    expect(names.filter((name) => name.startsWith("x-farmgate") || name === "x-request-id")).toEqual([]);
  });

  it("comes with the query of the caller, below the path of the worker's address", async () => {
    const worker = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: [{ name: "a", url: `${worker.url}/sub/`, engine: "openai" }] });
    await fetch(`${gateway.url}/v1/chat/completions?a=1`, { method: "POST", body: '{"model":"m"}' });
    expect(worker.asked[0]?.path).toBe("/sub/v1/chat/completions?a=1");
  });
});

/** Requests that a gateway has ended with 508 because they came round. */
async function loops({ url }: RunningGateway): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/farmgate_requests_total{[^}]*model="other"[^}]*status="508"[^}]*} (\d+)/.exec(metrics)?.[1]);
}

describe("a loop of gateways", () => {
  it("ends with 508 when the request comes round, and asks nobody twice for it", async () => {
    const worker = await fakeWorker({ m: "warm" }, refuses(500, {}));
    const a = await runGateway({ workers: agents({ worker }) });
    const asGateway = (name: string, { url }: RunningGateway) => ({ name, url, engine: "openai" });
    const b = await runGateway({ workers: [asGateway("a", a), asGateway("a-again", a)] });
    a.reload(configOf({ workers: [...agents({ worker }), asGateway("b", b), asGateway("b-again", b)] }));
    const list = async () => ((await (await fetch(`${a.url}/farm/models`)).json()) as { models: object[] }).models;
    await until("each knows the other", async () => JSON.stringify(await list()).includes("b-again"));
    const error = await errorOf(await chat(a));
    expect(error).toMatchObject({ status: 508, code: "loop_detected" });
    expect(error.message).toContain("worker: answered 500 (worker fault), b: answered 508");
    // b, and from there a by its two names, each of which knows the request.
    expect(worker.asked).toHaveLength(1);
    expect(await loops(a)).toBe(4);
    expect((await chat(a)).status).toBe(508);
  });

  it("ends with 508 when it is too long", async () => {
    const gateway = await runGateway({});
    for (const headers of [{ "x-farmgate-hop": "5" }, { via: Array(5).fill("1.1 farmgate").join(", ") }]) {
      expect(await errorOf(await chat(gateway, {}, { headers }))).toMatchObject({ status: 508, code: "loop_detected" });
    }
  });
});

describe("a body over the limit", () => {
  it("is refused with 413, announced or not, and the caller can read why", async () => {
    const gateway = await runGateway({ limits: { body: "64kb" } });
    expect(await errorOf(await chat(gateway, `{"model":"${"x".repeat(200_000)}"}`))).toMatchObject({
      status: 413,
      code: "body_too_large",
    });
    const answer = deferred<number>();
    const upload = httpRequest(`${gateway.url}/v1/chat/completions`, { method: "POST" }, (response) => {
      response.resume();
      answer.resolve(response.statusCode ?? 0);
    });
    upload.on("error", () => {});
    for (let i = 0; i < 40; i += 1) upload.write(Buffer.alloc(64 * 1_024, 32));
    upload.end();
    expect(await answer.promise).toBe(413);
  });
});

describe("a caller that asks before it sends", () => {
  it("is told to go on, or refused at once when it announces too much", async () => {
    const worker = await fakeWorker({ m: "warm" });
    const gateway = await runGateway({ workers: agents({ a: worker }), limits: { body: "1kb" } });
    const ask = (length: number) =>
      new Promise<{ continued: boolean; status: number }>((resolve, reject) => {
        let continued = false;
        const headers = { expect: "100-continue", "content-length": String(length) };
        const sent = httpRequest(`${gateway.url}/v1/chat/completions`, { method: "POST", headers });
        sent.on("continue", () => {
          continued = true;
          sent.end('{"model":"m"}'.padEnd(length));
        });
        sent.on("response", (response) => {
          response.resume();
          resolve({ continued, status: response.statusCode ?? 0 });
          sent.destroy();
        });
        sent.on("error", reject);
        sent.flushHeaders();
      });
    expect(await ask(100)).toEqual({ continued: true, status: 200 });
    expect(await ask(2_000)).toEqual({ continued: false, status: 413 });
  });
});

describe("a request that cannot be routed", () => {
  it("is a 400 that says why", async () => {
    const gateway = await runGateway({});
    for (const body of ["{", "[]", "{}", '{"model":1}', '{"model":"a","model":"b"}']) {
      expect(await errorOf(await chat(gateway, body))).toMatchObject({ status: 400, code: "invalid_request" });
    }
  });

  it("is a 404 with close names when nobody has the model", async () => {
    const worker = await fakeWorker({ "qwen3-coder-30b": "warm" });
    const gateway = await runGateway({ workers: agents({ a: worker }) });
    const error = await errorOf(await chat(gateway, { model: "qwen3-coder" }));
    expect(error).toMatchObject({ status: 404, code: "model_not_found" });
    expect(error.message).toContain("qwen3-coder-30b");
    expect(worker.asked).toHaveLength(0);
  });
});

describe("a packed body", () => {
  it("is refused with what to do about it", async () => {
    const gateway = await runGateway({});
    const body = gzipSync('{"model":"m"}');
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-encoding": "gzip" },
      body,
    });
    const error = await errorOf(response);
    expect(error).toMatchObject({ status: 400, code: "invalid_request" });
    expect(error.message).toContain("content-encoding: gzip");
  });
});
