import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Cleanup } from "./farmgate-process.ts";

/** A request's body as it came. */
export interface Recorded {
  path: string;
  headers: IncomingMessage["headers"];
  bytes: number;
  sha256: string;
  /** The first and the last of its bytes, a few hundred. */
  head: Buffer;
  tail: Buffer;
}

const EDGE = 400;

/** A server inside this process that lists one model as OpenAI does, takes any POST and writes down what came. */
export async function startRecordingEngine(cleanup: Cleanup, model: string) {
  const recorded: Recorded[] = [];
  const server: Server = createServer((request, response) => {
    if (request.method === "POST") return void record(request, response, recorded);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ object: "list", data: [{ id: model, object: "model" }] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, recorded };
}

async function record(request: IncomingMessage, response: ServerResponse, recorded: Recorded[]): Promise<void> {
  const hash = createHash("sha256");
  let bytes = 0;
  let head: Buffer = Buffer.alloc(0);
  let tail: Buffer = Buffer.alloc(0);
  for await (const chunk of request as AsyncIterable<Buffer>) {
    hash.update(chunk);
    bytes += chunk.length;
    if (head.length < EDGE) head = Buffer.concat([head, chunk.subarray(0, EDGE - head.length)]);
    tail = Buffer.concat([tail, chunk.subarray(-EDGE)]).subarray(-EDGE);
  }
  const sha256 = hash.digest("hex");
  recorded.push({ path: request.url ?? "", headers: request.headers, bytes, sha256, head, tail });
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ok: true, bytes }));
}
