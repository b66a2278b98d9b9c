import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Cleanup } from "./farmgate-process.ts";

/** What the server was asked. */
interface ScriptedAsk {
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}

export type Script = (asked: ScriptedAsk, response: ServerResponse) => void;

export interface ScriptedChat {
  url: string;
  asked: ScriptedAsk[];
  /** What it answers to chat; every other POST is not found. */
  answer: Script;
}

/** An OpenAI-like server with chat alone, inside this process, that answers as a test says. */
export async function startScriptedChat(cleanup: Cleanup, models: readonly string[]): Promise<ScriptedChat> {
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? "";
    if (request.method === "GET" && path === "/v1/models") {
      return json(200, { object: "list", data: models.map((id) => ({ id, object: "model", owned_by: "me" })) })(
        response,
      );
    }
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (request.method !== "POST" || path !== "/v1/chat/completions") {
      return json(404, { error: { message: "Not Found" } })(response);
    }
    const asked = {
      path,
      headers: request.headers,
      body: JSON.parse(String(Buffer.concat(pieces))) as ScriptedAsk["body"],
    };
    scripted.asked.push(asked);
    scripted.answer(asked, response);
  };
  const server = createServer((request, response) => void receive(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, () => {
    server.closeAllConnections();
    server.close();
  });
  const scripted: ScriptedChat = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    answer: (_asked, response) => json(500, { error: { message: "no script" } })(response),
  };
  return scripted;
}

/** A whole JSON answer. */
export function json(status: number, body: object): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
}

/** A stream of these events, each a JSON object or a text as it is. */
export function events(...chunks: (object | string)[]): Script {
  return (_asked, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(chunks.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join(""));
  };
}
