import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Cleanup } from "./farmgate-process.ts";
import { freePorts } from "./free-ports.ts";
import { rawAsk } from "./raw-ask.ts";
import { until } from "./until.ts";

export const JSON_TYPE = { "content-type": "application/json" };

/** What an engine that grants CORS itself sends along, and what a cookie-minded proxy in front of it adds. */
export const ITS_OWN = {
  "access-control-allow-origin": "*",
  "access-control-allow-credentials": "true",
  "Access-Control-Expose-Headers": "x-theirs",
  vary: "Origin, Accept-Language",
  "x-request-id": "the-engine's",
  "set-cookie": "a=b",
};

export type Answers = (request: IncomingMessage, response: ServerResponse, asked: { stream?: boolean }) => void;

/** Chat as most engines have it, with their own CORS headers. */
export const chats: Answers = (_request, response, { stream }) => {
  if (stream === true) {
    response.writeHead(200, { "content-type": "text/event-stream", ...ITS_OWN });
    response.end('data: {"choices":[]}\n\ndata: [DONE]\n\n');
    return;
  }
  response.writeHead(200, { ...JSON_TYPE, ...ITS_OWN }).end('{"choices":[]}');
};

/** An engine with one model `m` that answers inference as the test says, and keeps the heads that it was asked with. */
async function startEngine(cleanup: Cleanup, answers: Answers) {
  const heads: IncomingMessage["headers"][] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (piece) => (text += String(piece)));
    request.on("end", () => {
      if (request.method === "POST") {
        heads.push(request.headers);
        answers(request, response, JSON.parse(text) as { stream?: boolean });
      } else if (request.url === "/v1/models") {
        response.writeHead(200, JSON_TYPE).end('{"object":"list","data":[{"id":"m","object":"model"}]}');
      } else {
        response.writeHead(404).end();
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanup.add(server, () => {
    server.close();
    server.closeAllConnections();
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url: `http://${host}`, host, heads };
}

/** A real gateway before such an engine, as its worker `box` with a key of its own. */
export async function startCorsFarm(cleanup: Cleanup, answers: Answers = chats, config: Record<string, unknown> = {}) {
  const engine = await startEngine(cleanup, answers);
  const workers = [{ name: "box", url: engine.url, engine: "openai", apiKey: "worker-secret" }];
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const file = { listen: { port }, health: { interval: "200ms", timeout: "1s" }, workers, ...config };
  const gateway = await cleanup.program("gateway", file, url);
  await until(async () => (await rawAsk("GET", `${url}/health`)).status === 200, "the worker is known");
  const chat = (headers: Record<string, string> = {}, body: object | string = { model: "m", messages: [] }) =>
    rawAsk("POST", `${url}/v1/chat/completions`, { ...JSON_TYPE, ...headers }, textOf(body));
  return { gateway, url, engine, chat };
}

const textOf = (body: object | string) => (typeof body === "string" ? body : JSON.stringify(body));
