import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { ModelState } from "@farmgate/shared";
import { cleanup } from "./cleanup.ts";

/** What a fake worker got of one inference request. */
export interface Asked {
  path: string;
  headers: IncomingMessage["headers"];
  rawHeaders: string[];
  body: string;
  request: IncomingMessage;
  response: ServerResponse;
  /** The connection was closed before the answer's end. */
  closed: boolean;
}

export type Answer = (asked: Asked) => void | Promise<void>;

export interface FakeWorker {
  url: string;
  port: number;
  /** Every inference request so far. */
  asked: Asked[];
  answer: Answer;
  /** The nth of them, from 0. */
  request(n: number): Asked;
  /** Model -> state of its catalogue. */
  models: Record<string, ModelState>;
  /** Model -> what else its catalogue tells of it. */
  figures: Record<string, Record<string, unknown>>;
  draining: boolean;
  /** `queue.waiting` of its catalogue. */
  waiting: object[];
  /** More of its catalogue: of each model, and beside them. */
  more: { model: object; catalog: object };
  /** Orders to load a model, as they came. */
  ordered: string[];
  orderHeaders: IncomingMessage["headers"][];
  /** What becomes of one; by default the model is warm at once. The status answers it. */
  load: (model: string) => number;
  /** Orders to unload, as they came, and the status that answers them: 200 makes the model cold. */
  unloaded: string[];
  unloadStatus: number;
  /** Of its catalogue; null: it tells none. */
  memory: { budget_bytes: number; used_bytes: number } | null;
  /** Status of the catalogue; 0: it does not answer. */
  catalogStatus: number;
  /** It takes connections and answers nothing at all, as a stopped process does. */
  mute: boolean;
  /** Milliseconds until the catalogue answers. */
  catalogDelay: number;
  sockets: Set<Socket>;
  close(): void;
}

/** A worker agent's HTTP side with answers that a test makes up; the catalogue answers by itself. */
export async function fakeWorker(
  models: Record<string, ModelState>,
  answer: Answer = completes(),
  atEnd: (end: () => unknown) => void = cleanup,
): Promise<FakeWorker> {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    if (worker.mute) return;
    if (path === "/catalog") setTimeout(() => answerCatalog(worker, response), worker.catalogDelay);
    else if (path.endsWith("/load")) takeOrder(worker, request, response);
    else if (path.endsWith("/unload")) takeUnload(worker, request, response);
    else if (request.method === "POST") void ask(worker, request, response);
    else response.writeHead(404).end("{}");
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  const worker: FakeWorker = {
    url: `http://127.0.0.1:${port}`,
    port,
    asked: [],
    answer,
    request(n) {
      const found = worker.asked[n];
      if (found === undefined) throw new Error(`the fake worker got ${worker.asked.length} requests`);
      return found;
    },
    models,
    figures: {},
    draining: false,
    waiting: [],
    more: { model: {}, catalog: {} },
    ordered: [],
    orderHeaders: [],
    load(model) {
      worker.models[model] = "warm";
      return 202;
    },
    unloaded: [],
    unloadStatus: 200,
    memory: null,
    catalogStatus: 200,
    mute: false,
    catalogDelay: 0,
    sockets,
    close,
  };
  atEnd(close);
  return worker;
}

function answerCatalog(worker: FakeWorker, response: ServerResponse): void {
  if (worker.catalogStatus === 0) return;
  response.writeHead(worker.catalogStatus, { "content-type": "application/json" });
  const queue = { depth: worker.waiting.length, swapping_to: null, waiting: worker.waiting };
  const models = Object.entries(worker.models).map(([id, state]) => ({
    id,
    state,
    kind: "chat",
    ...worker.more.model,
    ...worker.figures[id],
  }));
  const { draining, memory } = worker;
  const catalog = {
    protocol: 1,
    worker: "fake",
    version: "0",
    draining,
    memory,
    queue,
    models,
    ...worker.more.catalog,
  };
  response.end(JSON.stringify(catalog));
}

function takeUnload(worker: FakeWorker, request: IncomingMessage, response: ServerResponse): void {
  const model = decodeURIComponent(request.url?.split("/").at(-2) ?? "");
  worker.unloaded.push(model);
  if (worker.unloadStatus === 200) worker.models[model] = "cold";
  request.resume();
  response.writeHead(worker.unloadStatus, { "content-type": "application/json" }).end("{}");
}

function takeOrder(worker: FakeWorker, request: IncomingMessage, response: ServerResponse): void {
  const model = decodeURIComponent(request.url?.split("/").at(-2) ?? "");
  worker.ordered.push(model);
  worker.orderHeaders.push(request.headers);
  response.writeHead(worker.load(model), { "content-type": "application/json" }).end("{}");
}

async function ask(worker: FakeWorker, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  const { headers, rawHeaders } = request;
  const asked: Asked = { path: request.url ?? "", headers, rawHeaders, body: "", request, response, closed: false };
  response.on("close", () => {
    asked.closed = !response.writableFinished;
  });
  response.on("error", () => {});
  request.on("error", () => {});
  try {
    for await (const piece of request) pieces.push(piece as Buffer);
  } catch {
    return;
  }
  asked.body = Buffer.concat(pieces).toString();
  worker.asked.push(asked);
  await worker.answer(asked);
}

/** Answers a short completion at once. */
export function completes(text = "hello"): Answer {
  return ({ response }) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(
      JSON.stringify({
        choices: [{ message: { role: "assistant", content: text } }],
        usage: { prompt_tokens: 3, completion_tokens: 2 },
      }),
    );
  };
}

/** Answers an error. */
export function refuses(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return ({ response }) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** Reads the request and says nothing. */
export const hangs: Answer = () => {};

/** Closes the connection in place of an answer. */
export const resets: Answer = ({ request }) => {
  request.socket.resetAndDestroy();
};
