import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { answerNative, answerOpenai, type Asked } from "./ollama-answers.ts";
import { OllamaModels, type OllamaOptions } from "./ollama-models.ts";

export type { OllamaOptions } from "./ollama-models.ts";

/** A server that answers as Ollama does, inside this process. */
export class OllamaLike {
  readonly models: OllamaModels;
  readonly #server = createServer((request, response) => void this.#receive(request, response));
  readonly #sockets = new Set<Socket>();
  readonly #apiKey: string | null;
  readonly #lacks: readonly string[];
  /** The headers of each inference or load request, oldest first. */
  readonly headers: IncomingMessage["headers"][] = [];
  /** Each of these with its body, oldest first. */
  readonly asked: { path: string; body: string }[] = [];
  /** How often its list was asked for. */
  looks = 0;
  #port = 0;

  constructor(options: OllamaOptions) {
    this.models = new OllamaModels(options);
    this.#apiKey = options.apiKey ?? null;
    this.#lacks = options.lacks ?? [];
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
    if (this.#lacks.some((lacked) => path === lacked || (lacked.endsWith("/") && path.startsWith(lacked)))) {
      return void response.writeHead(404, { "content-type": "text/plain" }).end("404 page not found");
    }
    if (request.method === "GET" || request.method === "HEAD") {
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
    const body = String(Buffer.concat(chunks));
    this.asked.push({ path, body });
    const asked = JSON.parse(body) as Asked;
    await this.#answer(path, asked, response, json);
  }

  async #answer(path: string, asked: Asked, response: ServerResponse, json: (status: number, body: unknown) => void) {
    const openai = path.startsWith("/v1/");
    const refuse = (status: number, message: string) =>
      json(status, openai ? { error: { message, type: "api_error", param: null, code: null } } : { error: message });
    const form = FORMS[path];
    if (path === "/api/show") return this.#show(asked, json);
    if (form === undefined) return refuse(404, "404 page not found");
    const spec = this.models.find(asked.model ?? "");
    if (spec === undefined) return refuse(404, `model '${asked.model}' not found`);
    const empty = form === "embed" ? !(asked.input ?? asked.prompt)?.length : !asked.prompt && !asked.messages?.length;
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
      const texts = empty ? [] : [asked.input ?? asked.prompt].flat();
      const vectors = texts.map((_, i) => [0.1, 0.2 + i]);
      const data = vectors.map((embedding, index) => ({ object: "embedding", index, embedding }));
      if (openai) json(200, { object: "list", model: spec.name, data });
      else if (path === "/api/embeddings") json(200, { embedding: vectors[0] ?? [] });
      else json(200, { model: spec.name, embeddings: vectors, prompt_eval_count: 2 * texts.length });
    } else if (empty) {
      json(200, { ...told, done: true, done_reason: "load" });
    } else if (openai) {
      answerOpenai(response, asked, spec.name);
    } else {
      await answerNative(response, path === "/api/chat" ? "chat" : "generate", asked, spec.name);
    }
    use.release();
  }

  #show({ model }: Asked, json: (status: number, body: unknown) => void): void {
    const spec = this.models.find(model ?? "");
    if (spec === undefined) return json(404, { error: `model '${model}' not found` });
    json(200, { details: { format: "gguf" }, model_info: {}, capabilities: ["completion"] });
  }
}

const FORMS: Readonly<Record<string, "text" | "embed">> = {
  "/api/generate": "text",
  "/api/chat": "text",
  "/api/embed": "embed",
  "/api/embeddings": "embed",
  "/v1/chat/completions": "text",
  "/v1/embeddings": "embed",
};
