// A worker that counts for itself: what came, how much at once, and how often it was polled.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export class CountingWorker {
  readonly name: string;
  readonly #server: Server;
  readonly #holdMs: () => number;
  /** Now, and at most so far. */
  underWay = 0;
  most = 0;
  served = 0;
  /** GETs of its catalogue. */
  polls = 0;

  private constructor(name: string, holdMs: () => number) {
    this.name = name;
    this.#holdMs = holdMs;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  /** On a free port of loopback; each answer takes `holdMs()`. */
  static async start(name: string, holdMs: () => number): Promise<CountingWorker> {
    const worker = new CountingWorker(name, holdMs);
    await new Promise<void>((resolve) => worker.#server.listen(0, "127.0.0.1", resolve));
    return worker;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Counts anew from what is under way. */
  restartCounts(): void {
    this.most = this.underWay;
    this.served = 0;
    this.polls = 0;
  }

  end(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    for await (const _ of request.on("error", () => {})) continue;
    if (request.method === "GET") {
      if (request.url === "/v1/models") this.polls += 1;
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ object: "list", data: [{ id: "m", object: "model" }] }));
      return;
    }
    this.underWay += 1;
    this.most = Math.max(this.most, this.underWay);
    let open = true;
    const leave = () => {
      if (open) this.underWay -= 1;
      open = false;
    };
    response.on("close", leave);
    await sleep(this.#holdMs());
    leave();
    this.served += 1;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(ANSWER));
  }
}

const ANSWER = {
  id: "c",
  object: "chat.completion",
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: "so" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
