import { type AddressInfo, createServer, type Socket } from "node:net";
import type { Cleanup } from "./farmgate-process.ts";

/** One POST as its bytes came. */
export interface RawRequest {
  path: string;
  /** The head as it stood there, with its request line. */
  head: string;
  /** What came of the body: all of it, or nothing yet for `onHead`. */
  body: Buffer;
  socket: Socket;
}

type Answer = (request: RawRequest) => void | Promise<void>;

/**
 * An engine on a bare socket: it lists one model, `m`, as vLLM and Ollama do, and a test writes every byte of its
 * answers, be they HTTP or not.
 */
export interface RawWorker {
  url: string;
  /** The POSTs so far. */
  asked: RawRequest[];
  /** Called with a whole request. */
  answer: Answer;
  /** Called instead, as soon as the head of a request is there; null: it is waited for its body. */
  onHead: Answer | null;
}

const LISTS: Readonly<Record<string, object>> = {
  "/v1/models": { object: "list", data: [{ id: "m", object: "model", owned_by: "vllm", root: "m" }] },
  "/api/tags": { models: [{ name: "m:latest", model: "m:latest", size: 1, digest: "d" }] },
  "/api/ps": { models: [{ name: "m:latest", model: "m:latest", size: 1, digest: "d" }] },
};

export async function startRawWorker(cleanup: Cleanup): Promise<RawWorker> {
  const sockets = new Set<Socket>();
  const worker: RawWorker = { url: "", asked: [], answer: ({ socket }) => void socket.end(), onHead: null };
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    let held: Buffer[] = [];
    let wanted = 0;
    socket.on("data", (data) => {
      held.push(data);
      if (held.reduce((sum, { length }) => sum + length, 0) < wanted) return;
      const { rest, total } = take(worker, socket, Buffer.concat(held));
      held = [rest];
      wanted = total;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  worker.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return cleanup.add(worker, () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
}

/** Takes a request once it is whole: what is left of the bytes, and how many there must be to look again. */
function take(worker: RawWorker, socket: Socket, held: Buffer): { rest: Buffer; total: number } {
  const end = held.indexOf("\r\n\r\n");
  if (end < 0) return { rest: held, total: 0 };
  const head = held.subarray(0, end).toString("latin1");
  const [, method = "", path = ""] = /^(\S+) (\S+)/.exec(head) ?? [];
  const from = end + 4;
  const total = from + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
  const early = method === "POST" ? worker.onHead : null;
  if (early === null && held.length < total) return { rest: held, total };
  const rest = held.subarray(Math.min(held.length, total));
  if (method === "POST") {
    const request = { path, head, body: held.subarray(from, total), socket };
    worker.asked.push(request);
    void (early ?? worker.answer)(request);
  } else list(socket, path);
  return { rest, total: 0 };
}

function list(socket: Socket, path: string): void {
  const found = LISTS[path];
  const body = JSON.stringify(found ?? {});
  const status = found === undefined ? "404 Not Found" : "200 OK";
  socket.write(`HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
}

const EVENT_STREAM = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";

/** The head of a stream of events in chunks. */
export const STREAM_HEAD = `${EVENT_STREAM}transfer-encoding: chunked\r\n\r\n`;
export const LAST_CHUNK = "0\r\n\r\n";

export function chunk(bytes: Buffer | string, extension: string = ""): Buffer {
  const body = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}${extension}\r\n`), body, Buffer.from("\r\n")]);
}

/** A whole stream of events; each piece is a chunk and a write of its own. */
export async function stream(socket: Socket, pieces: readonly (Buffer | string)[]): Promise<void> {
  socket.write(STREAM_HEAD);
  for (const piece of pieces) {
    socket.write(chunk(piece));
    await new Promise(setImmediate);
  }
  socket.write(LAST_CHUNK);
}

/** A whole answer with its length. */
export function whole(body: Buffer | string, headers: string = "content-type: application/json"): Buffer {
  const bytes = Buffer.from(body);
  const head = `HTTP/1.1 200 OK\r\n${headers}\r\ncontent-length: ${bytes.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), bytes]);
}
