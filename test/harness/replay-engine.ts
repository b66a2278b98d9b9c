import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Cleanup } from "./farmgate-process.ts";

/** What the engine was asked for a chat. */
interface Replayed {
  url: string;
  asked: Record<string, unknown>[];
}

/**
 * An engine with one model, whose every chat is answered by the recorded bytes of a real llama-server: `NAME` of
 * `test/fixtures/llama-server`, or `NAME-stream` for a stream.
 */
export async function startReplayEngine(cleanup: Cleanup, model: string, name: string): Promise<Replayed> {
  const asked: Record<string, unknown>[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    if (request.method === "GET" && request.url === "/v1/models") {
      response.writeHead(200, { server: "llama.cpp", "content-type": "application/json" });
      response.end(JSON.stringify({ object: "list", data: [{ id: model, object: "model", owned_by: "llamacpp" }] }));
      return;
    }
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (request.url !== "/v1/chat/completions") {
      response.writeHead(404, { server: "llama.cpp", "content-type": "application/json" });
      response.end('{"error":{"code":404,"message":"File Not Found","type":"not_found_error"}}');
      return;
    }
    const body = JSON.parse(Buffer.concat(pieces).toString()) as Record<string, unknown>;
    asked.push(body);
    response.socket?.end(recorded(body["stream"] === true ? `${name}-stream` : name));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, () => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

function recorded(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/llama-server/${name}.response`, import.meta.url));
}
