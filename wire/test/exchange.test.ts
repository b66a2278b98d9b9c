import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { createSystemClock, createUpstream, Exchange, type ExchangeOutcome } from "../src/index.ts";

const clock = createSystemClock();
const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (handler: (request: IncomingMessage, response: ServerResponse) => void) => listen(createServer(handler));

interface Seen {
  status: number;
  headers: string[];
  body: string;
  outcome: ExchangeOutcome;
  ends: number;
}

function start(origin: string, options: { firstByteMs?: number; idleMs?: number; onData?: () => boolean } = {}) {
  const pool = createUpstream(origin, { connectMs: 2_000 });
  cleanups.push(() => pool.destroy());
  const seen: Seen = { status: 0, headers: [], body: "", outcome: { ok: true }, ends: 0 };
  const headed = deferred<void>();
  const ended = deferred<Seen>();
  const exchange = new Exchange(
    pool,
    { origin, method: "POST", path: "/v1/chat/completions", headers: [], body: Buffer.from("{}") },
    { firstByteMs: options.firstByteMs ?? 10_000, idleMs: options.idleMs ?? 10_000 },
    clock,
    {
      head(status, headers) {
        seen.status = status;
        seen.headers = headers;
        headed.resolve();
      },
      data(chunk) {
        seen.body += chunk.toString();
        return options.onData?.() ?? true;
      },
      end(outcome) {
        seen.outcome = outcome;
        seen.ends += 1;
        ended.resolve(seen);
      },
    },
  );
  return { exchange, headed: headed.promise, ended: ended.promise, pool };
}

const failure = (seen: Seen) => (seen.outcome.ok ? null : [seen.outcome.failure.phase, seen.outcome.failure.kind]);

describe("exchange", () => {
  it("leaves no time-out to the client, whose own ends a slow answer after five minutes", () => {
    const pool = createUpstream("http://127.0.0.1:9", { connectMs: 2_000 });
    cleanups.push(() => pool.destroy());
    const given: object[] = [];
    pool.dispatch = (options) => given.push(options) > 0;
    const request = { origin: "http://127.0.0.1:9", method: "POST", path: "/", headers: [], body: null };
    const sink = { head() {}, data: () => true, end() {} };
    new Exchange(pool, request, { firstByteMs: 900_000, idleMs: 300_000 }, clock, sink).cancel();
    expect(given).toEqual([expect.objectContaining({ headersTimeout: 0, bodyTimeout: 0 })]);
  });

  it("passes status, headers and body on as they come", async () => {
    const origin = await serve((_, response) => response.writeHead(418, { "X-Pot": "tea" }).end("short and stout"));
    const seen = await start(origin).ended;
    expect(seen).toMatchObject({ status: 418, body: "short and stout", outcome: { ok: true }, ends: 1 });
    expect(seen.headers).toEqual(expect.arrayContaining(["X-Pot", "tea"]));
  });

  it("tells a refused connection in the connect phase", async () => {
    const server = createTcpServer();
    const origin = await listen(server);
    await new Promise((resolve) => server.close(resolve));
    expect(failure(await start(origin).ended)).toEqual(["connect", "refused"]);
  });

  it("tells silence before the status line as a first byte time-out and closes the socket", async () => {
    const closed = deferred<void>();
    const origin = await serve((request) => request.socket.on("close", () => closed.resolve()));
    expect(failure(await start(origin, { firstByteMs: 300 }).ended)).toEqual(["first_byte", "timeout"]);
    await closed.promise;
  });

  it("tells silence inside the body as an idle time-out", async () => {
    const origin = await serve((_, response) => response.writeHead(200).write("data: 1\n\n"));
    const seen = await start(origin, { idleMs: 50 }).ended;
    expect(failure(seen)).toEqual(["body", "timeout"]);
    expect(seen.body).toBe("data: 1\n\n");
  });

  it("does not take a paused reader for a silent upstream", async () => {
    const origin = await serve((_, response) => {
      response.writeHead(200).write("first");
      setImmediate(() => response.end("second"));
    });
    const run = start(origin, { idleMs: 60, onData: () => false });
    await run.headed;
    const early = await Promise.race([
      run.ended.then(() => "ended"),
      new Promise((resolve) => setTimeout(() => resolve("still open"), 200)),
    ]);
    expect(early).toBe("still open");
    run.exchange.resume();
    run.exchange.resume();
    const resumer = setInterval(() => run.exchange.resume(), 5);
    cleanups.push(() => clearInterval(resumer));
    expect(await run.ended).toMatchObject({ body: "firstsecond", outcome: { ok: true } });
  });

  it("reads to the end for who pauses at every piece", async () => {
    const text = "x".repeat(3_000_000);
    const origin = await serve((_, response) => response.end(text));
    const run = start(origin, {
      onData: () => {
        queueMicrotask(() => run.exchange.resume());
        return false;
      },
    });
    const { body, outcome } = await run.ended;
    expect([body.length, outcome]).toEqual([text.length, { ok: true }]);
  });

  it.each(["before headers", "mid-stream"])("closes the upstream's socket when cancelled %s", async (phase) => {
    const closed = deferred<void>();
    const arrived = deferred<void>();
    const origin = await serve((request, response) => {
      request.socket.on("close", () => closed.resolve());
      if (phase === "mid-stream") response.writeHead(200).write("data: 1\n\n");
      arrived.resolve();
    });
    const run = start(origin);
    await (phase === "mid-stream" ? run.headed : arrived.promise);
    run.exchange.cancel();
    run.exchange.cancel();
    const seen = await run.ended;
    expect(failure(seen)?.[1]).toBe("cancelled");
    await closed.promise;
    expect(seen.ends).toBe(1);
  });

  it("sends nothing when cancelled before the connection stood", async () => {
    let requests = 0;
    const origin = await serve(() => (requests += 1));
    const run = start(origin);
    run.exchange.cancel();
    expect(failure(await run.ended)?.[1]).toBe("cancelled");
    await run.pool.close();
    expect(requests).toBe(0);
  });

  it("knows a broken connection that had carried an answer before", async () => {
    let served = 0;
    const origin = await serve((request, response) => {
      served += 1;
      if (served === 1) response.end("fine");
      else request.socket.resetAndDestroy();
    });
    const pool = createUpstream(origin, { connectMs: 2_000 });
    cleanups.push(() => pool.destroy());
    const once = () =>
      new Promise<ExchangeOutcome>((resolve) => {
        const request = { origin, method: "POST", path: "/", headers: [], body: null };
        const sink = { head: () => {}, data: () => true, end: resolve };
        void new Exchange(pool, request, { firstByteMs: 5_000, idleMs: 5_000 }, clock, sink);
      });
    expect(await once()).toEqual({ ok: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(await once()).toMatchObject({ ok: false, failure: { phase: "first_byte", kind: "reset", reused: true } });
    expect(await once()).toMatchObject({ ok: false, failure: { phase: "first_byte", kind: "reset", reused: false } });
  });

  it("tells a body that ends before its announced length as a reset", async () => {
    const origin = await listen(
      createTcpServer((socket) => {
        socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"));
      }),
    );
    expect(failure(await start(origin).ended)).toEqual(["body", "reset"]);
  });

  it("tells an answer that is not HTTP", async () => {
    const origin = await listen(createTcpServer((socket) => socket.once("data", () => socket.end("SSH-2.0-nope\r\n"))));
    expect(failure(await start(origin).ended)).toEqual(["first_byte", "protocol"]);
  });
});
