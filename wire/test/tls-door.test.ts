import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect as connectPlain, type Socket } from "node:net";
import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSystemClock, FrontServer, onCallerLeft } from "../src/index.ts";
import { TlsDoor } from "../src/tls-door.ts";

const clock = createSystemClock();
const pem = (name: string) => readFileSync(new URL(`../../test/fixtures/tls/${name}`, import.meta.url), "utf8");
const pairOf = (name: string) => ({ cert: pem(`${name}.pem`), key: pem(`${name}.key.pem`) });
const LIMITS = { body: () => 100, headers: 16_384, connections: () => 1_000, stallMs: () => 60_000 };
const ASKED = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

async function listening(answer: Answer = (_request, response) => response.end("hello")) {
  const server = new FrontServer(LIMITS, clock, pairOf("server"));
  server.on("request", answer);
  const { url, port } = await server.listenOn({ host: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    server.close();
    await server.end(0, clock);
  });
  return { server, url, port };
}

/** An encrypted connection, what came on it so far, and its end. */
function dial(port: number, options: ConnectionOptions = {}) {
  const socket = connect({
    port,
    host: "127.0.0.1",
    ca: pem("authority.pem"),
    allowHalfOpen: true,
    ...options,
  } as ConnectionOptions);
  return watched<TLSSocket>(socket);
}

function watched<S extends Socket>(socket: S) {
  let got = "";
  let error = "";
  const watchers = new Set<() => void>();
  socket.on("data", (piece) => {
    got += piece.toString("latin1");
    for (const watcher of watchers) watcher();
  });
  socket.on("error", (problem: NodeJS.ErrnoException) => (error = problem.code ?? problem.message));
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const ended = new Promise<void>((resolve) => socket.once("end", resolve).once("close", () => resolve()));
  onTestFinished(() => void socket.destroy());
  const until = (text: string) =>
    new Promise<string>((resolve) => {
      const watcher = () => got.includes(text) && resolve(got);
      watchers.add(watcher);
      watcher();
    });
  return { socket, until, closed, ended, got: () => got, error: () => error };
}

describe("a front server with a certificate", () => {
  it("speaks HTTPS in HTTP/1.1, several requests on one connection", async () => {
    const { url, port } = await listening((request, response) => response.end(`you asked ${request.url}`));
    expect(url).toBe(`https://127.0.0.1:${port}`);
    const caller = dial(port, { ALPNProtocols: ["h2", "http/1.1"] });
    caller.socket.write("GET /one HTTP/1.1\r\nHost: x\r\n\r\nGET /two HTTP/1.1\r\nHost: x\r\n\r\n");
    const got = await caller.until("/two");
    expect(got.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    expect(caller.socket.alpnProtocol).toBe("http/1.1");
    expect(caller.socket.authorized).toBe(true);
  });

  it("refuses TLS below 1.2", async () => {
    const { port } = await listening();
    const old = dial(port, { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "DEFAULT:@SECLEVEL=0" });
    await old.closed;
    expect(old.error()).not.toBe("");
    expect(old.got()).toBe("");
  });

  it("tells a caller of plain HTTP what the port takes, and ends the connection", async () => {
    const { port } = await listening(() => expect.unreachable("no request came in HTTPS"));
    const plain = watched(connectPlain({ port, host: "127.0.0.1" }));
    plain.socket.write(ASKED);
    await plain.closed;
    expect(plain.got()).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n[^]*This port takes HTTPS alone/);
  });

  it("bears what is neither HTTP nor TLS, and goes on", async () => {
    const { port } = await listening();
    for (const bytes of [Buffer.from([0x16, 3, 1, 0xff, 0xff, 1, 2, 3]), Buffer.from([0x16]), Buffer.alloc(1_000)]) {
      const odd = watched(connectPlain({ port, host: "127.0.0.1" }));
      odd.socket.end(bytes);
      await odd.closed;
    }
    const caller = dial(port);
    caller.socket.write(ASKED);
    expect(await caller.until("hello")).toContain("200 OK");
  });

  it("shows a renewed certificate to new connections, and goes on with the old ones", async () => {
    const { server, port } = await listening();
    const before = dial(port);
    before.socket.write(ASKED);
    await before.until("hello");
    server.renew(pairOf("renewed"));
    expect(() => server.renew({ ...pairOf("server"), key: pairOf("renewed").key })).toThrow(/key/i);
    const after = dial(port);
    after.socket.write(ASKED);
    await after.until("hello");
    const shown = [before, after].map(({ socket }) => socket.getPeerCertificate().subject.CN);
    expect(shown).toEqual(["Farmgate test server", "Farmgate test renewed"]);
    before.socket.write("GET /again HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    await before.ended;
    expect(before.got().match(/200 OK/g)).toHaveLength(2);
  });

  it("sees a caller leave by closing its own half", async () => {
    let left = 0;
    const { port } = await listening((request, response) => {
      onCallerLeft(request, response, () => (left += 1));
      response.writeHead(200).write("begun");
    });
    const caller = dial(port);
    caller.socket.write(ASKED);
    await caller.until("begun");
    caller.socket.end();
    await caller.closed;
    expect(left).toBeGreaterThan(0);
  });

  it("closes idle connections at its end, lets answers end, and then the port is free", async () => {
    let finish = () => {};
    const { server, port } = await listening((request, response) => {
      if (request.url === "/slow") {
        response.write("begun");
        finish = () => response.end(" and done");
      } else response.end("hello");
    });
    const idle = dial(port);
    idle.socket.write(ASKED);
    await idle.until("hello");
    const busy = dial(port);
    busy.socket.write("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    await busy.until("begun");
    const arriving = watched(connectPlain({ port, host: "127.0.0.1" }));
    await new Promise((resolve) => arriving.socket.once("connect", resolve));
    const startedAt = performance.now();
    const gone = new Promise<void>((resolve) => void server.close(() => resolve()));
    await idle.ended;
    const ended = server.end(5_000, clock);
    finish();
    await Promise.all([busy.ended, ended, arriving.closed, gone]);
    expect(busy.got()).toContain(" and done");
    // Long before the time is over that it had to become encrypted.
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  });

  it("hands on WebSockets", async () => {
    const { server, port } = await listening();
    server.onWebSocket((caller) => {
      const socket = caller.switch(["upgrade", "websocket", "connection", "upgrade"]);
      socket.on("data", (piece: Buffer) => socket.write(`echo ${piece.toString()}`)).resume();
      // What was on its way when the caller ended its half still reaches it.
      socket.on("end", () => setImmediate(() => socket.end(" late")));
    });
    const caller = dial(port);
    caller.socket.write("GET /v1/realtime HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    await caller.until("101 Switching");
    caller.socket.write("bytes");
    await caller.until("echo bytes");
    caller.socket.end();
    await caller.ended;
    expect(caller.got()).toMatch(/echo bytes late$/);
  });

  it("ends connections that do not become encrypted in time", async () => {
    const server = new FrontServer(LIMITS, clock);
    const door = new TlsDoor(server, pairOf("server"), 100);
    expect(door).toBeDefined();
    const { port } = await server.listenOn({ host: "127.0.0.1", port: 0 });
    onTestFinished(() => void server.close());
    const silent = watched(connectPlain({ port, host: "127.0.0.1" }));
    const halfway = watched(connectPlain({ port, host: "127.0.0.1" }));
    halfway.socket.write(Buffer.from([0x16, 3, 1, 0, 200, 1]));
    await Promise.all([silent.closed, halfway.closed]);
    expect(server.listening).toBe(true);
  });
});
