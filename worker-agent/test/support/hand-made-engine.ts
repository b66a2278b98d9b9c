import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface HandMadeEngine {
  url: string;
  port: number;
  requests: { path: string; headers: IncomingMessage["headers"]; body: Buffer }[];
  /** Called when `/health` has been answered. */
  afterHealth: () => void;
  /** Requests whose caller closed before the answer's end. */
  left: number;
  /** Resets every connection and listens no more, as if the process had been killed. */
  kill(): Promise<void>;
  /** Listens again, on the same port. */
  revive(): Promise<void>;
}

export type HandMadeAnswer = (request: { path: string; body: Buffer }, response: ServerResponse) => void;

/** An engine whose `/health` is good and whose inference paths answer as the test says. */
export async function handMadeEngine(answer: HandMadeAnswer): Promise<HandMadeEngine> {
  const sockets = new Set<Socket>();
  const engine: HandMadeEngine = {
    url: "",
    port: 0,
    requests: [],
    left: 0,
    afterHealth: () => {},
    kill,
    revive: () => listen(engine.port),
  };
  const server = createServer((request, response) => {
    if (request.method === "GET") {
      response.end("{}", () => engine.afterHealth());
      return;
    }
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const seen = { path: request.url ?? "", headers: request.headers, body: Buffer.concat(chunks) };
      engine.requests.push(seen);
      response.on("close", () => {
        if (!response.writableFinished) engine.left += 1;
      });
      answer(seen, response);
    });
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  function listen(port: number): Promise<void> {
    return new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  }
  async function kill(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  }
  await listen(0);
  engine.port = (server.address() as AddressInfo).port;
  engine.url = `http://127.0.0.1:${engine.port}`;
  onTestFinished(kill);
  return engine;
}
