import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Cleanup } from "./farmgate-process.ts";

interface Asked {
  model: string;
  messages?: { role: string; content: string }[];
  tools?: { function: { name: string } }[];
  prompt?: string;
  input?: string[];
  stream?: boolean;
}

const COUNTS = { done: true, done_reason: "stop", prompt_eval_count: 7, eval_count: 5, total_duration: 1_000_000 };
const PAUSE_MS = 20;

/**
 * An Ollama from before `/v1`: its own API alone, every other path is not found. Asked to "count" it streams numbers
 * until its caller leaves, to "break" it breaks off in the middle of its answer; asked with tools it calls the first, and repeats the result of a call.
 */
export class OldOllama {
  /** Paths and bodies of what was asked, oldest first. */
  readonly asked: { path: string; body: Asked }[] = [];
  /** Answers whose callers left before their end. */
  left = 0;
  readonly #models: readonly string[];
  readonly #server = createServer((request, response) => void this.#receive(request, response));

  constructor(models: readonly string[]) {
    this.#models = models;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? "";
    const list = this.#models.map((name) => ({ name, model: name, size: 1_000_000, details: { format: "gguf" } }));
    if (request.method !== "POST") {
      if (path === "/") return void response.end("Ollama is running");
      if (path === "/api/version") return send(response, 200, { version: "0.1.20" });
      if (path === "/api/tags" || path === "/api/ps") return send(response, 200, { models: list });
      return void response.writeHead(404).end("404 page not found");
    }
    let text = "";
    for await (const piece of request) text += String(piece);
    const body = JSON.parse(text) as Asked;
    this.asked.push({ path, body });
    const told = { model: body.model, created_at: "2026-11-30T00:00:00Z" };
    response.on("close", () => {
      if (!response.writableFinished) this.left += 1;
    });
    if (path === "/api/chat") {
      await tell(response, body, messagesOf(body), (message) => ({ ...told, message, done: false }));
    } else if (path === "/api/generate") {
      const pieces = ["and", " so", " on"];
      await tell(response, body, pieces, (piece) => ({ ...told, response: piece, done: false }));
    } else if (path === "/api/embed") {
      const embeddings = (body.input ?? []).map((input) => [input.length, 0.25, -1]);
      send(response, 200, { ...told, embeddings, prompt_eval_count: 3 });
    } else response.writeHead(404).end("404 page not found");
  }
}

export async function startOldOllama(cleanup: Cleanup, models: readonly string[]): Promise<OldOllama> {
  return cleanup.add(await new OldOllama(models).open(), (ollama) => ollama.close());
}

type Message = { role: string; content: string; thinking?: string; tool_calls?: object[] };

function messagesOf({ messages = [], tools = [] }: Asked): Iterable<Message> {
  const last = messages.at(-1);
  const say = (content: string, more: object = {}) => ({ role: "assistant", content, ...more });
  if (last?.role === "tool") return [say("It says: "), say(last.content)];
  if (last?.content === "count") return counting();
  if (last?.content === "break") return [say("Hel"), BREAK];
  const [tool] = tools;
  if (tool === undefined) return [say("", { thinking: "Hm." }), say("Hello "), say("é漢😀")];
  return [say("", { tool_calls: [{ function: { name: tool.function.name, arguments: { city: "Paris" } } }] })];
}

const BREAK: Message = { role: "break", content: "" };

function* counting(): Iterable<Message> {
  for (let n = 1; ; n += 1) yield { role: "assistant", content: `${n} ` };
}

/** As a stream of lines, slowly, or as one answer. */
async function tell<T>(response: ServerResponse, asked: Asked, pieces: Iterable<T>, line: (piece: T) => object) {
  if (asked.stream === false) {
    const lines = [...pieces].map(line) as { message?: Message; response?: string }[];
    const content = lines.map((one) => one.message?.content ?? "").join("");
    const calls = lines.flatMap((one) => one.message?.tool_calls ?? []);
    const thinking = lines.map((one) => one.message?.thinking ?? "").join("");
    const message = { role: "assistant", content, thinking, ...(calls.length > 0 ? { tool_calls: calls } : {}) };
    const text = lines.map((one) => one.response ?? "").join("");
    return send(response, 200, { ...lines[0], message, response: text, ...COUNTS });
  }
  response.writeHead(200, { "content-type": "application/x-ndjson" });
  for (const piece of pieces) {
    if (response.destroyed) return;
    if (piece === BREAK) return void response.destroy();
    response.write(`${JSON.stringify(line(piece))}\n`);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const end = { model: asked.model, created_at: "2026-11-30T00:00:00Z", message: { role: "assistant", content: "" } };
  response.end(`${JSON.stringify({ ...end, response: "", ...COUNTS })}\n`);
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
