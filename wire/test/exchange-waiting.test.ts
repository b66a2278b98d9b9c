import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createSystemClock,
  createUpstream,
  Exchange,
  type ExchangeOutcome,
  type ExchangeTimeouts,
} from "../src/index.ts";

const clock = createSystemClock();
const PROCESSING = "HTTP/1.1 102 Processing\r\n\r\n";
const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A server of bare bytes for one request on each connection. */
const speak = (talk: (socket: Socket) => unknown) =>
  listen(createTcpServer((socket) => socket.once("data", () => void talk(socket))));

const serve = (handler: (request: IncomingMessage, response: ServerResponse) => void) => listen(createServer(handler));

function start(origin: string, timeouts: Partial<ExchangeTimeouts> = {}, by = clock) {
  const pool = createUpstream(origin, { connectMs: 2_000 });
  onTestFinished(() => pool.destroy());
  const seen = { statuses: [] as number[], body: "", ended: false };
  let tell: (outcome: ExchangeOutcome) => void = () => {};
  const ended = new Promise<ExchangeOutcome>((resolve) => {
    tell = resolve;
  });
  const exchange = new Exchange(
    pool,
    { origin, method: "POST", path: "/", headers: [], body: Buffer.from("{}") },
    { firstByteMs: 10_000, idleMs: 10_000, ...timeouts },
    by,
    {
      head: (status) => seen.statuses.push(status),
      data(chunk) {
        seen.body += String(chunk);
        return true;
      },
      end(outcome) {
        seen.ended = true;
        tell(outcome);
      },
    },
  );
  return { exchange, seen, ended, pool };
}

const failure = (outcome: ExchangeOutcome) => (outcome.ok ? null : [outcome.failure.phase, outcome.failure.kind]);

describe("an upstream that says 102 Processing", () => {
  const waits = async (socket: Socket) => {
    for (let i = 0; i < 15; i += 1) {
      socket.write(PROCESSING);
      await pause(100);
    }
    socket.write(ANSWER);
  };

  it("starts the time for the first byte anew each time, where that is wanted", async () => {
    const run = start(await speak(waits), { firstByteMs: 1_000, restartOnProcessing: true });
    expect(await run.ended).toEqual({ ok: true });
    expect(run.seen).toMatchObject({ statuses: [200], body: "ok" });
  });

  it("changes nothing where it is not wanted", async () => {
    const run = start(await speak(waits), { firstByteMs: 1_000 });
    expect(failure(await run.ended)).toEqual(["first_byte", "timeout"]);
  });

  it("cannot hold a request past its deadline", async () => {
    const run = start(await speak(waits), { firstByteMs: 1_000, deadlineMs: 500, restartOnProcessing: true });
    expect(failure(await run.ended)).toEqual(["first_byte", "timeout"]);
  });

  it("and then says nothing more is timed out", async () => {
    const run = start(await speak((socket) => socket.write(PROCESSING)), {
      firstByteMs: 200,
      restartOnProcessing: true,
    });
    expect(failure(await run.ended)).toEqual(["first_byte", "timeout"]);
  });

  it.each([103, 199])("is not taken for one that says %i", async (status) => {
    const origin = await speak(async (socket) => {
      for (let i = 0; i < 15; i += 1) {
        socket.write(`HTTP/1.1 ${status} Odd\r\n\r\n`);
        await pause(100);
      }
      socket.write(ANSWER);
    });
    const run = start(origin, { firstByteMs: 1_000, restartOnProcessing: true });
    expect(failure(await run.ended)).toEqual(["first_byte", "timeout"]);
  });

  it.each([102, 103])("is cut off when it says %i without end", async (status) => {
    const origin = await speak((socket) => {
      const many = `HTTP/1.1 ${status} Odd\r\n\r\n`.repeat(1_000);
      const more = () => !socket.destroyed && socket.write(many, () => setImmediate(more));
      more();
    });
    const run = start(origin, { firstByteMs: 60_000, restartOnProcessing: true });
    expect(failure(await run.ended)).toEqual(["first_byte", "protocol"]);
  });

  it("holds a request for a day and no longer", async () => {
    const HOUR = 3_600_000;
    let later = 0;
    const shifted = { ...clock, now: () => clock.now() + later };
    const saysIt = speak((socket) => void setInterval(() => socket.write(PROCESSING), 10).unref());
    const run = start(await saysIt, { firstByteMs: HOUR, idleMs: 20, restartOnProcessing: true }, shifted);
    while (later < 23 * HOUR) {
      later += HOUR / 2;
      await pause(60);
    }
    expect(run.seen.ended).toBe(false);
    later += 2.5 * HOUR;
    expect(failure(await run.ended)).toEqual(["first_byte", "timeout"]);
  });

  it("leaves a connection that serves the next request", async () => {
    const server = createServer((_request, response) => {
      response.writeProcessing();
      response.writeProcessing();
      response.end("ok");
    });
    let connections = 0;
    server.on("connection", () => (connections += 1));
    const origin = await listen(server);
    const { pool, ended } = start(origin, { restartOnProcessing: true });
    expect(await ended).toEqual({ ok: true });
    await new Promise((resolve) => setImmediate(resolve));
    const second = new Promise<ExchangeOutcome>((resolve) => {
      const request = { origin, method: "POST", path: "/", headers: [], body: null };
      const sink = { head: () => {}, data: () => true, end: resolve };
      void new Exchange(pool, request, { firstByteMs: 5_000, idleMs: 5_000 }, clock, sink);
    });
    expect(await second).toEqual({ ok: true });
    expect(connections).toBe(1);
  });

  it("and breaks off had the request: its connection was no idle one that ended", async () => {
    const origin = await speak((socket) => {
      socket.write(PROCESSING);
      setImmediate(() => setImmediate(() => socket.resetAndDestroy()));
    });
    const outcome = await start(origin, { restartOnProcessing: true }).ended;
    expect(outcome).toMatchObject({ ok: false, failure: { kind: "reset", reused: false } });
  });
});

describe("an exchange that is abandoned", () => {
  async function abandoned(limits: { bytes: number; ms: number }, handler: (response: ServerResponse) => void) {
    const upstream = { closed: false, finished: false };
    const origin = await serve((_request, response) => {
      response.on("close", () => {
        upstream.closed = true;
        upstream.finished = response.writableFinished;
      });
      response.writeHead(200).write("first");
      handler(response);
    });
    const run = start(origin);
    while (run.seen.body === "") await pause(5);
    run.exchange.abandon(limits);
    return { ...run, upstream };
  }

  it("is read to its end, of which nothing is passed on, and tells its end only then", async () => {
    let response: ServerResponse | null = null;
    const run = await abandoned({ bytes: 0, ms: 60_000 }, (theirs) => {
      response = theirs;
    });
    await pause(50);
    expect(run.seen.ended).toBe(false);
    (response as ServerResponse | null)?.end("second");
    expect(failure(await run.ended)).toEqual(["body", "cancelled"]);
    expect(run.seen.body).toBe("first");
    while (!run.upstream.closed) await pause(5);
    expect(run.upstream.finished).toBe(true);
  });

  it.each([
    ["bytes", { bytes: 50_000, ms: 0 }, 50_000],
    ["time", { bytes: 0, ms: 100 }, 0],
  ])("is cut when its limit of %s is reached", async (_what, limits, least) => {
    let sent = 0;
    const run = await abandoned(limits, (response) => {
      const timer = setInterval(() => {
        sent += 1_000;
        response.write(Buffer.alloc(1_000));
      }, 1);
      response.on("close", () => clearInterval(timer));
    });
    expect(failure(await run.ended)).toEqual(["body", "cancelled"]);
    while (!run.upstream.closed) await pause(5);
    expect(run.upstream.finished).toBe(false);
    expect(sent).toBeGreaterThanOrEqual(least);
  });

  it.each([
    ["there is no limit up to which it may be read", { bytes: 0, ms: 0 }],
    ["it is cancelled after all", { bytes: 0, ms: 60_000 }],
  ])("is cut at once when %s", async (_when, limits) => {
    const run = await abandoned(limits, () => {});
    run.exchange.cancel();
    expect(failure(await run.ended)).toEqual(["body", "cancelled"]);
    while (!run.upstream.closed) await pause(5);
  });

  it("tells that it was cancelled when the upstream breaks off", async () => {
    const run = await abandoned({ bytes: 0, ms: 60_000 }, (response) => setTimeout(() => response.destroy(), 50));
    expect(failure(await run.ended)).toEqual(["body", "cancelled"]);
  });

  it("goes on where it was paused", async () => {
    const origin = await serve((_request, response) => response.end("x".repeat(4_000_000)));
    const pool = createUpstream(origin, { connectMs: 2_000 });
    onTestFinished(() => pool.destroy());
    const outcome = await new Promise<ExchangeOutcome>((resolve) => {
      const request = { origin, method: "POST", path: "/", headers: [], body: null };
      const timeouts = { firstByteMs: 10_000, idleMs: 10_000 };
      const data = () => {
        setImmediate(() => exchange.abandon({ bytes: 0, ms: 60_000 }));
        return false;
      };
      const exchange = new Exchange(pool, request, timeouts, clock, { head: () => {}, data, end: resolve });
    });
    expect(failure(outcome)).toEqual(["body", "cancelled"]);
  });

  it("sends nothing when it had sent nothing yet", async () => {
    let requests = 0;
    const origin = await serve(() => (requests += 1));
    const run = start(origin);
    run.exchange.abandon({ bytes: 1_000, ms: 60_000 });
    expect(failure(await run.ended)).toEqual(["connect", "cancelled"]);
    await run.pool.close();
    expect(requests).toBe(0);
  });
});
