import { connect, createServer, type Socket } from "node:net";
import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import { FarmError } from "@farmgate/shared";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  answerError,
  type CallerSocket,
  createSystemClock,
  createUpstream,
  Exchange,
  type ExchangeOutcome,
  FrontServer,
  Tunnel,
} from "../src/index.ts";

const clock = createSystemClock();
const NO_MORE_LIMITS = { connections: () => Number.POSITIVE_INFINITY, stallMs: () => 60_000 };
const ASKED = "GET /v1/realtime?model=m HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: WebSocket\r\n\r\n";

async function startFront(onSocket: (socket: CallerSocket) => void): Promise<{ port: number; server: FrontServer }> {
  const server = new FrontServer({ body: () => 1_000, headers: 8_192, ...NO_MORE_LIMITS }, clock);
  server.on("request", (request: IncomingMessage, response) => {
    if (request.url === "/never") return;
    let body = "";
    request.setEncoding("utf8").on("data", (piece: string) => (body += piece));
    request.on("end", () => response.end(`plain ${request.method} ${body}`));
  });
  server.onWebSocket(onSocket);
  const { port } = await server.listenOn({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { port, server };
}

/** A connection, what came on it so far, and its end. */
function dial(port: number, text: string | Buffer) {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  let got = "";
  const watchers = new Set<() => void>();
  const look = () => {
    for (const watcher of watchers) watcher();
  };
  socket.on("data", (piece) => {
    got += piece.toString("latin1");
    look();
  });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  const ended = new Promise<void>((resolve) => {
    socket.once("end", resolve);
    socket.once("close", () => resolve());
  });
  socket.on("error", () => {});
  socket.write(text);
  onTestFinished(() => void socket.destroy());
  const until = (text: string) =>
    new Promise<string>((resolve) => {
      const watcher = () => {
        if (got.includes(text)) resolve(got);
      };
      watchers.add(watcher);
      watcher();
    });
  return { socket, until, closed, ended, got: () => got };
}

/** A server whose first connections end here. */
async function startRaw(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createServer({ allowHalfOpen: true }, onConnection);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as { port: number }).port;
}

describe("a request for a WebSocket", () => {
  it("can be answered in HTTP, and its connection ends with that", async () => {
    const { port } = await startFront(({ response }) => {
      answerError(response, new FarmError("not_found", "nothing"), { family: "openai", requestId: "r" });
    });
    const caller = dial(port, ASKED);
    await caller.ended;
    expect(caller.got()).toMatch(/^HTTP\/1\.1 404 .*connection: close.*"message":"nothing"/is);
  });

  it("tells once that its caller has left while it waits", async () => {
    for (const leave of ["end", "destroy"] as const) {
      let left = 0;
      const gone = new Promise<void>((resolve) => {
        void startFront((socket) => {
          socket.onLeft(() => {
            left += 1;
            socket.response.once("close", resolve);
          });
        }).then(({ port }) => {
          const caller = dial(port, ASKED);
          caller.socket.write("early", () => caller.socket[leave]());
        });
      });
      await gone;
      expect(left).toBe(1);
    }
  });

  it("is cut behind a request of the same connection that waits for its answer, and harms nobody", async () => {
    const { port } = await startFront(() => expect.unreachable());
    const caller = dial(port, `GET /never HTTP/1.1\r\nHost: x\r\n\r\n${ASKED}`);
    await caller.ended;
    expect(caller.got()).toBe("");
  });

  it.each([
    [
      "h2c",
      "POST / HTTP/1.1\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQA\r\n",
    ],
    ["a WebSocket of a POST", "POST / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"],
  ])("is a plain request where it asks for %s", async (_, head) => {
    const { port } = await startFront(() => expect.unreachable());
    const request = `${head}Host: x\r\nContent-Length: 4\r\n\r\nbody`;
    const caller = dial(port, request);
    await caller.until("plain POST body");
    // Its connection serves on.
    caller.socket.write(request.replace("body", "more"));
    await caller.until("plain POST more");
  });
});

describe("two connections that are one", () => {
  /** Callers of the front are joined with connections to the raw server. */
  async function startJoined(onConnection: (socket: Socket) => void) {
    const rawPort = await startRaw(onConnection);
    const tunnels: Tunnel[] = [];
    let ended: (broke: Error | null) => void = () => {};
    const over = new Promise<Error | null>((resolve) => {
      ended = resolve;
    });
    const { port, server } = await startFront((caller) => {
      const upstream = connect(rawPort, "127.0.0.1", () => {
        const socket = caller.switch(["upgrade", "websocket", "x-own", "é"]);
        tunnels.push(new Tunnel(socket, upstream.pause(), clock, (broke) => ended(broke)));
      });
    });
    return { port, server, over, tunnels };
  }

  it("carries bytes both ways, those included that came early, and ends with its caller's last word", async () => {
    let got = "";
    const { port, over } = await startJoined((socket) => {
      socket.on("data", (piece) => {
        got += piece.toString();
        socket.write(`<${piece.toString()}>`);
      });
      socket.on("end", () => socket.end("bye"));
    });
    const caller = dial(port, `${ASKED}early `);
    const head = await caller.until("<early >");
    expect(head).toMatch(/^HTTP\/1\.1 101 Switching Protocols\r\nupgrade: websocket\r\nx-own: \xe9\r\n\r\n/);
    caller.socket.write("late");
    await caller.until("<late>");
    caller.socket.end();
    await caller.closed;
    expect(caller.got()).toMatch(/bye$/);
    expect(got).toBe("early late");
    expect(await over).toBeNull();
  });

  it("waits for the side that reads slowly, and loses nothing", async () => {
    const size = 8 * 1_024 ** 2;
    const { port, tunnels } = await startJoined((socket) => {
      socket.end(Buffer.alloc(size, "x"));
      socket.resume();
    });
    const caller = dial(port, ASKED);
    await caller.until("\r\n\r\n");
    caller.socket.pause();
    await new Promise((resolve) => setImmediate(resolve));
    expect(tunnels).toHaveLength(1);
    caller.socket.resume();
    await caller.ended;
    expect(caller.got().length).toBeGreaterThanOrEqual(size);
    caller.socket.end();
    await caller.closed;
  });

  it("ends both at once when it is ended, or when the upstream breaks", async () => {
    const broken = await startJoined((socket) => socket.once("data", () => socket.resetAndDestroy()));
    const first = dial(broken.port, `${ASKED}x`);
    await first.ended;
    expect(await broken.over).toMatchObject({ code: "ECONNRESET" });

    const ended = await startJoined(() => {});
    const second = dial(ended.port, ASKED);
    await second.until("\r\n\r\n");
    ended.tunnels[0]?.destroy();
    await second.ended;
    expect(await ended.over).toBeNull();
  });

  it("ends with the server", async () => {
    const { port, server, over } = await startJoined(() => {});
    const caller = dial(port, ASKED);
    await caller.until("\r\n\r\n");
    server.close();
    await server.end(0, clock);
    await caller.ended;
    expect(await over).toBeNull();
  });
});

describe("an exchange that asks for a WebSocket", () => {
  function exchange(port: number) {
    const pool = createUpstream(`http://127.0.0.1:${port}`, { connectMs: 1_000 });
    onTestFinished(() => pool.destroy());
    const seen: string[] = [];
    const request = { origin: `http://127.0.0.1:${port}`, method: "GET", path: "/ws?model=m", headers: ["a", "b"] };
    return new Promise<{ seen: string[]; socket: Socket | null; outcome: ExchangeOutcome | null }>((resolve) => {
      const sink = {
        head: (status: number) => void seen.push(`head ${status}`),
        data: (chunk: Buffer) => seen.push(chunk.toString()) > 0,
        end: (outcome: ExchangeOutcome) => resolve({ seen, socket: null, outcome }),
        upgraded: (rawHeaders: string[], socket: Socket) =>
          resolve({ seen: [...seen, ...rawHeaders], socket, outcome: null }),
      };
      const timeouts = { firstByteMs: 5_000, idleMs: 5_000, restartOnProcessing: true };
      void new Exchange(pool, { ...request, body: null, upgrade: "websocket" }, timeouts, clock, sink);
    });
  }

  it("hands over the connection with what came behind the head, whatever was told before", async () => {
    const server = createHttpServer();
    server.on("upgrade", (request, socket) => {
      expect(request.url).toBe("/ws?model=m");
      expect(request.headers).toMatchObject({ a: "b", connection: "upgrade", upgrade: "websocket" });
      socket.write("HTTP/1.1 102 Processing\r\n\r\n");
      socket.write("HTTP/1.1 101 Ok\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-A: 1\r\n\r\nfirst frame");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { seen, socket } = await exchange((server.address() as { port: number }).port);
    expect(seen).toEqual(["Connection", "Upgrade", "Upgrade", "websocket", "X-A", "1"]);
    const first = await new Promise<string>((resolve) => socket?.once("data", (piece) => resolve(String(piece))));
    expect(first).toBe("first frame");
    socket?.destroy();
  });

  it("passes any other answer on as one", async () => {
    const server = createHttpServer((_request, response) => response.writeHead(404).end("no such path"));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { seen, outcome } = await exchange((server.address() as { port: number }).port);
    expect(seen).toEqual(["head 404", "no such path"]);
    expect(outcome).toEqual({ ok: true });
  });

  it.each([
    ["200", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi", "200 in place of a WebSocket"],
    ["200 without an end", "HTTP/1.1 200 OK\r\n\r\nhi", "200 in place of a WebSocket"],
    ["204", "HTTP/1.1 204 No Content\r\n\r\n", "204 in place of a WebSocket"],
    [
      "101 to another protocol",
      "HTTP/1.1 101 Ok\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\nbytes",
      "it switched to another protocol than was asked for",
    ],
  ])("takes %s for no answer to what it asked for", async (_what, answer, message) => {
    const port = await startRaw((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.write(answer));
    });
    const { seen, socket, outcome } = await exchange(port);
    expect(seen).toEqual([]);
    expect(socket).toBeNull();
    const failure = { phase: "first_byte", kind: "protocol", reused: false, message };
    expect(outcome).toEqual({ ok: false, failure });
  });

  it("takes a switch to nothing for no answer", async () => {
    const port = await startRaw((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.write("HTTP/1.1 101 Ok\r\nconnection: upgrade\r\n\r\nbytes"));
    });
    const { socket, outcome } = await exchange(port);
    expect(socket).toBeNull();
    expect(outcome).toMatchObject({ ok: false });
  });
});
