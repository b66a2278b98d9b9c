import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Cleanup } from "./farmgate-process.ts";

const LIST = { object: "list", data: [{ id: "m", object: "model", owned_by: "vllm", root: "m" }] };
const ANSWER = {
  id: "1",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "hello" }, finish_reason: "stop" }],
  data: [{ index: 0, embedding: [0.5] }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

/**
 * An engine that lists one model, `m`, answers each request for it at once, and writes down what is wrong with those
 * that reach it: nothing but whole requests for `m`, in the form of their path, may.
 */
export async function startStrictEngine(cleanup: Cleanup) {
  const faults: string[] = [];
  let served = 0;
  const sockets = new Set<Socket>();
  const server = createServer({ maxHeaderSize: 128 * 1_024 }, (request, response) => {
    if (request.method === "GET") return json(response, LIST);
    read(request).then(
      (body) => {
        served += 1;
        const fault = faultOf(request, body);
        if (fault !== null)
          faults.push(`${fault}: ${request.method} ${request.url} ${body.subarray(0, 300).toString()}`);
        answer(response, body);
      },
      () => {},
    );
  });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("clientError", (error, socket) => {
    if ((error as NodeJS.ErrnoException).code !== "ECONNRESET") faults.push(`no HTTP: ${error.message}`);
    socket.destroy();
  });
  server.on("upgrade", (request: IncomingMessage, socket: Socket) => {
    const key = String(request.headers["sec-websocket-key"]);
    const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    socket.on("error", () => {});
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    );
    socket.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, faults, served: () => served };
}

async function read(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request as AsyncIterable<Buffer>) pieces.push(piece);
  return Buffer.concat(pieces);
}

function faultOf({ method, url, headers }: IncomingMessage, body: Buffer): string | null {
  if (method !== "POST" || !/^\/(v1|api)\/|^\/[a-z-]+(\?|$)/.test(url ?? "")) return "no inference path";
  if (headers["x-api-key"] !== undefined || headers.cookie !== undefined) return "a caller's credentials";
  if (Object.keys(headers).some((name) => name.startsWith("x-farmgate-"))) return "a header of the farm's own";
  if (headers["content-type"]?.startsWith("multipart/") === true) {
    return /name="?model"?\r\n\r\nm\r\n/.test(body.toString("latin1")) ? null : "a form without the model";
  }
  try {
    const { model } = JSON.parse(body.toString()) as { model?: unknown };
    return model === "m" || (model === undefined && /model=m/.test(url ?? "")) ? null : `model ${String(model)}`;
  } catch (error) {
    return `no JSON (${String(error)})`;
  }
}

function answer(response: ServerResponse, body: Buffer): void {
  if (!/"stream": ?true/.test(body.toString("latin1"))) return json(response, ANSWER);
  response.writeHead(200, { "content-type": "text/event-stream" });
  const delta = {
    id: "1",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta: { content: "hi" } }],
  };
  response.write(`data: ${JSON.stringify(delta)}\n\n`);
  response.end("data: [DONE]\n\n");
}

function json(response: ServerResponse, value: object): void {
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
}
