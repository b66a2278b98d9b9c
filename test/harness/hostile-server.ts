import { type AddressInfo, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface RawServer {
  url: string;
  /** What it answers to a GET, head and body. */
  list: (path: string, socket: Socket) => Buffer | string | null;
  /** What it answers to a POST; it may write by itself. */
  answer: (socket: Socket, head: string) => Buffer | string | null;
  posts: number;
}

/** A server on bare sockets that answers whatever a test makes up, and closes the connection after. */
export async function rawServer(list: RawServer["list"]): Promise<RawServer> {
  const sockets = new Set<Socket>();
  const raw: RawServer = { url: "", list, answer: () => json({ ok: true }), posts: 0 };
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    let held = "";
    socket.on("data", (piece) => {
      held += piece.toString("latin1");
      const at = held.indexOf("\r\n\r\n");
      if (at < 0) return;
      const head = held.slice(0, at);
      if (held.length < at + 4 + Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)) return;
      held = "";
      const [, method = "", path = ""] = /^(\S+) (\S+)/.exec(head) ?? [];
      if (method === "POST") raw.posts += 1;
      const bytes = method === "POST" ? raw.answer(socket, head) : raw.list(path, socket);
      if (bytes !== null) socket.end(bytes);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  raw.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return raw;
}

/** A whole good answer. */
export function json(value: unknown, headers = ""): Buffer {
  return answer(Buffer.from(typeof value === "string" ? value : JSON.stringify(value)), headers);
}

function answer(body: Buffer, headers: string): Buffer {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n${headers}\r\n`;
  return Buffer.concat([Buffer.from(head, "latin1"), body]);
}
