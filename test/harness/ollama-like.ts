import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { OllamaModels, type OllamaOptions } from "./ollama-models.ts";

export type { OllamaOptions } from "./ollama-models.ts";

/** A server that answers as Ollama does, inside this process. */
export class OllamaLike {
  readonly models: OllamaModels;
  readonly #server = createServer((request, response) => void this.#receive(request, response));
  readonly #sockets = new Set<Socket>();
  readonly #apiKey: string | null;
  /** The headers of each inference or load request, oldest first. */
  readonly headers: IncomingMessage["headers"][] = [];
  /** How often its list was asked for. */
  looks = 0;
  #port = 0;

  constructor(options: OllamaOptions) {
    this.models = new OllamaModels(options);
    this.#apiKey = options.apiKey ?? null;
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens: on a free port the first time, on the same one after `die`. */
  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, "127.0.0.1", resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  /** As if the process had been killed: connections are reset, nothing is loaded, nobody listens. */
  async die(): Promise<void> {
    this.models.forgetAll();
    if (!this.#server.listening) return;
    const closed = new Promise((resolve) => this.#server.close(resolve));
    for (const socket of this.#sockets) socket.resetAndDestroy();
    await closed;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (this.#apiKey !== null && request.headers.authorization !== `Bearer ${this.#apiKey}`) {
      return json(401, { error: "unauthorized" });
    }
    const path = request.url ?? "";
    if (request.method === "GET") {
      if (path === "/") return void response.end("Ollama is running");
      if (path === "/api/version") return json(200, { version: "0.33.0" });
      if (path === "/api/tags") this.looks += 1;
      if (path === "/api/tags") return json(200, { models: this.models.tags() });
      if (path === "/api/ps") return json(200, { models: this.models.running() });
      if (path === "/v1/models") return json(200, { object: "list", data: this.models.cards() });
      return void response.writeHead(404).end("404 page not found");
    }
    this.headers.push(request.headers);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked = JSON.parse(String(Buffer.concat(chunks))) as Asked;
    await this.#answer(path, asked, response, json);
  }

  async #answer(path: string, asked: Asked, response: ServerResponse, json: (status: number, body: unknown) => void) {
    const openai = path.startsWith("/v1/");
    const refuse = (status: number, message: string) =>
      json(status, openai ? { error: { message, type: "api_error", param: null, code: null } } : { error: message });
    const form = FORMS[path];
    if (form === undefined) return refuse(404, "404 page not found");
    const spec = this.models.find(asked.model ?? "");
    if (spec === undefined) return refuse(404, `model '${asked.model}' not found`);
    const empty = form === "embed" ? !asked.input?.length : !asked.prompt && !asked.messages?.length;
    const told = { model: spec.name, created_at: "2026-11-30T00:00:00Z" };
    if (!openai && form === "text" && empty && asked.keep_alive === 0) {
      this.models.expire(spec.name);
      return json(200, { ...told, done: true, done_reason: "unload" });
    }
    if (form === "text" && spec.kind === "embedding") {
      return refuse(400, `"${spec.name}" does not support ${path.endsWith("generate") ? "generate" : "chat"}`);
    }
    const keepAlive = openai ? null : (asked.keep_alive ?? null);
    const use = await this.models.use(spec.name, keepAlive, !empty);
    if ("failure" in use) return refuse(500, use.failure);
    if (form === "embed") {
      const vectors = empty ? [] : [[0.1, 0.2]];
      const data = vectors.map((embedding, index) => ({ object: "embedding", index, embedding }));
      json(200, openai ? { object: "list", model: spec.name, data } : { model: spec.name, embeddings: vectors });
    } else if (empty) {
      json(200, { ...told, done: true, done_reason: "load" });
    } else if (openai) {
      answerChat(response, asked, spec.name);
    } else {
      json(200, { ...told, message: { role: "assistant", content: "Hello" }, done: true, done_reason: "stop" });
    }
    use.release();
  }
}

const FORMS: Readonly<Record<string, "text" | "embed">> = {
  "/api/generate": "text",
  "/api/chat": "text",
  "/api/embed": "embed",
  "/v1/chat/completions": "text",
  "/v1/embeddings": "embed",
};

interface Asked {
  model?: string;
  prompt?: string;
  messages?: unknown[];
  input?: string | string[];
  /** Seconds; negative: for ever. */
  keep_alive?: number;
  stream?: boolean;
}

function answerChat(response: ServerResponse, { stream }: Asked, model: string): void {
  const base = { id: "chatcmpl-1", created: 0, model };
  if (stream !== true) {
    const choice = { index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" };
    const usage = { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...base, object: "chat.completion", choices: [choice], usage }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const deltas = [{ role: "assistant", content: "Hel" }, { content: "lo" }, {}];
  for (const [i, delta] of deltas.entries()) {
    const choice = { index: 0, delta, finish_reason: i === deltas.length - 1 ? "stop" : null };
    response.write(`data: ${JSON.stringify({ ...base, object: "chat.completion.chunk", choices: [choice] })}\n\n`);
  }
  response.end("data: [DONE]\n\n");
}
