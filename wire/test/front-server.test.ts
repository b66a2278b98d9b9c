import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSystemClock, FrontServer, onCallerLeft } from "../src/index.ts";

const clock = createSystemClock();
const NO_MORE_LIMITS = { connections: () => Number.POSITIVE_INFINITY, stallMs: () => 60_000 };

async function listening(answer: (request: IncomingMessage, response: ServerResponse) => void, bodyLimit = 100) {
  const server = new FrontServer({ body: () => bodyLimit, headers: 32_768, ...NO_MORE_LIMITS }, clock);
  server.onRequest(answer);
  const { url, port } = await server.listenOn({ host: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    server.close();
    await server.end(0, clock);
  });
  return { server, url, port };
}

function caller(port: number): Socket {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** What comes on the connection until it ends. */
async function all(socket: Socket): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of socket) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("latin1");
}

describe("a front server", () => {
  it("tells its address, also one of IPv6 in brackets", async () => {
    const { url, port } = await listening((_request, response) => response.end());
    expect(url).toBe(`http://127.0.0.1:${port}`);
    const other = new FrontServer({ body: () => 0, headers: 16_384, ...NO_MORE_LIMITS }, clock);
    onTestFinished(() => void other.close());
    expect((await other.listenOn({ host: "[::1]", port: 0 })).url).toMatch(/^http:\/\/\[::1\]:\d+$/);
  });

  it("rejects with the system's code when the port is taken", async () => {
    const { port } = await listening(() => {});
    await expect(
      new FrontServer({ body: () => 0, headers: 16_384, ...NO_MORE_LIMITS }, clock).listenOn({
        host: "127.0.0.1",
        port,
      }),
    ).rejects.toMatchObject({
      code: "EADDRINUSE",
    });
  });

  it("keeps idle connections longer than proxies in front do, and sets no limit on a slow upload", async () => {
    const { server } = await listening((_request, response) => response.end());
    expect(server.keepAliveTimeout).toBeGreaterThanOrEqual(65_000);
    // Else a connection that was kept this long would be refused its next request.
    expect(server.headersTimeout).toBeGreaterThan(server.keepAliveTimeout);
    expect(server.requestTimeout).toBe(0);
  });

  it("takes headers of 24 KB", async () => {
    const { url } = await listening((_request, response) => response.end("{}"));
    expect((await fetch(url, { headers: { a: "a".repeat(24_576) } })).status).toBe(200);
  });

  it.each([
    ["headers of 40 KB", `GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(40_960)}\r\n\r\n`, "431"],
    ["bytes that are no HTTP", "\u0016\u0003\u0001\u0002\r\n\r\n", "400"],
  ])("refuses %s", async (_what, bytes, status) => {
    const { port } = await listening((_request, response) => response.end("{}"));
    const socket = caller(port);
    socket.write(bytes);
    const [head = "", body = ""] = (await all(socket)).split("\r\n\r\n");
    expect(head.startsWith(`HTTP/1.1 ${status} `)).toBe(true);
    expect(JSON.parse(body)).toMatchObject({ error: { code: "invalid_request" } });
  });

  it.each([
    [100, true],
    [101, false],
  ])("asks a caller who announces %i bytes for them: %s", async (length, asks) => {
    const { port } = await listening((_request, response) => response.writeHead(200, { connection: "close" }).end());
    const socket = caller(port);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`);
    expect((await all(socket)).startsWith("HTTP/1.1 100 Continue\r\n\r\n")).toBe(asks);
  });
});

describe("a pipeline", () => {
  it("has the question for a body before the answer to it, never within, whatever is answered first", async () => {
    let answerFirst = () => {};
    const { port } = await listening((request, response) => {
      if (request.url === "/first") answerFirst = () => response.end("first");
      else {
        response.writeHead(405, { "content-length": "2" }).end("no");
        setImmediate(answerFirst);
      }
    });
    const socket = caller(port);
    const asks = "Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close";
    socket.write(`GET /first HTTP/1.1\r\nHost: x\r\n\r\nPOST /second HTTP/1.1\r\nHost: x\r\n${asks}\r\n\r\nxx`);
    const [, second = ""] = (await all(socket)).split("first");
    expect(second.replace(/^HTTP\/1.1 100 Continue\r\n\r\n/, "")).toMatch(/^HTTP\/1.1 405 .*\r\n\r\nno$/s);
  });
});

describe("the end of a front server", () => {
  it("waits until a slow caller has read the whole of an answer that was given", async () => {
    const size = 20 * 1_024 ** 2;
    let answered = () => {};
    const given = new Promise<void>((resolve) => {
      answered = resolve;
    });
    const { server, port } = await listening((_request, response) => {
      response.end(Buffer.alloc(size, "x"));
      answered();
    });
    const socket = caller(port);
    socket.pause();
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await given;
    server.close();
    const ended = server.end(10_000, clock);
    expect((await all(socket)).length).toBeGreaterThan(size);
    await ended;
  });

  it("tells callers whose answer is still to begin, and who ask on, that their connection ends", async () => {
    const open: ServerResponse[] = [];
    const { server, port } = await listening((_request, response) => void open.push(response));
    const socket = caller(port);
    socket.write("GET /1 HTTP/1.1\r\nhost: x\r\n\r\n");
    while (open.length === 0) await turn();
    server.close();
    open[0]?.end("last");
    expect(await all(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n[^]*last/i);
  });

  it("takes one more request of each open connection when it leaves the others to another server", async () => {
    const { server, url, port } = await listening((_request, response) => response.end("here"));
    const ask = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
    const [used, silent] = [caller(port), caller(port)];
    used.write(ask);
    await new Promise((resolve) => used.once("data", resolve));
    // It has come as well by the time that a later one was answered.
    const last = all(caller(port).end(ask.replace("x\r\n", "x\r\nconnection: close\r\n")));
    await last;
    const left = server.leave(3_600_000, clock);
    await expect(fetch(url)).rejects.toThrow("fetch failed");
    for (const socket of [used, silent]) {
      socket.write(ask);
      expect(await all(socket)).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*connection: close\r\n[^]*here/i);
    }
    await left;
  });

  it("closes those who ask nothing more in time when it leaves", async () => {
    const { server, port } = await listening((_request, response) => response.end());
    const silent = caller(port);
    await new Promise((resolve) => server.once("connection", resolve));
    let fire = () => {};
    const left = server.leave(5_000, { ...clock, after: (ms, fn) => ((fire = ms === 5_000 ? fn : fire), () => {}) });
    fire();
    await left;
    expect(await all(silent)).toBe("");
  });

  it("does not wait for connections that never asked", async () => {
    const { server, port } = await listening(() => {});
    const silent = caller(port);
    await new Promise((resolve) => silent.once("connect", resolve));
    server.close();
    await server.end(3_600_000, clock);
    expect(await all(silent)).toBe("");
  });

  it("waits a second, not longer, for an answer that does not end", async () => {
    const { server, port } = await listening((_request, response) => response.writeHead(200).flushHeaders());
    const reader = caller(port);
    reader.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await new Promise((resolve) => reader.once("data", resolve));
    server.close();
    const waits: number[] = [];
    const after = (ms: number, fn: () => void) => {
      waits.push(ms);
      setImmediate(fn);
      return () => {};
    };
    await server.end(3_600_000, { ...clock, after });
    await new Promise((resolve) => reader.once("end", resolve));
    expect(waits).toEqual([1_000]);
  });
});

describe("a caller who leaves", () => {
  it.each([
    ["closes its half of the connection", (socket: Socket) => void socket.end()],
    ["breaks it", (socket: Socket) => void socket.resetAndDestroy()],
  ])("is noticed when it %s", async (_how, leave) => {
    let noticed = 0;
    let arrived = () => {};
    const there = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const gone = new Promise<void>((resolve) => {
      void listening((request, response) => {
        onCallerLeft(request, response, () => {
          noticed += 1;
          resolve();
        });
        arrived();
      }).then(({ port }) => {
        const socket = caller(port);
        socket.on("error", () => {});
        socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        void there.then(() => leave(socket));
      });
    });
    await gone;
    await turn();
    expect(noticed).toBeGreaterThan(0);
  });

  it("is not one who got its whole answer", async () => {
    let noticed = 0;
    const { url } = await listening((request, response) => {
      onCallerLeft(request, response, () => (noticed += 1));
      response.end("{}");
    });
    await (await fetch(url)).text();
    await turn();
    expect(noticed).toBe(0);
  });
});

describe("a pipeline whose connection closes", () => {
  const ways: [string, (socket: Socket) => void][] = [
    ["is closed", (socket) => socket.destroy()],
    ["is reset", (socket) => socket.resetAndDestroy()],
    ["is closed half-way", (socket) => socket.end()],
  ];
  it.each(ways)("that %s tells each of its requests, also those whose turn had not come", async (_way, leave) => {
    const left: string[] = [];
    const closed: string[] = [];
    let arrived = () => {};
    const allArrived = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { server, port } = await listening((request, response) => {
      onCallerLeft(request, response, () => left.push(request.url ?? ""));
      response.on("close", () => closed.push(request.url ?? ""));
      response.write("begun");
      if (request.url === "/3") arrived();
    });
    const socket = caller(port);
    socket.on("error", () => {});
    socket.write(["/1", "/2", "/3"].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(""));
    await allArrived;
    leave(socket);
    while (closed.length < 3) await turn();
    await turn();
    expect(closed.toSorted()).toEqual(["/1", "/2", "/3"]);
    expect([...new Set(left)].toSorted()).toEqual(["/1", "/2", "/3"]);
    server.close();
    expect(await Promise.race([server.end(60_000, clock).then(() => "ended"), turn("waits")])).toBe("ended");
  });
});
