// Callers who ask through all doors in turn, each again as soon as it was answered.
import { Agent } from "node:http";
import { ask } from "../../harness/ask.ts";
import type { Program } from "../../soak/farm/programs.ts";

export interface Seen {
  gateway: string;
  sentAt: number;
  endedAt: number;
  status: number;
  /** Whole and without an error. */
  good: boolean;
}

const BODY = JSON.stringify({ model: "m", messages: [{ role: "user", content: "so?" }] });

export class Callers {
  readonly seen: Seen[] = [];
  #stopped = false;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #running: Promise<void>;
  #left: number;

  /** `most`: requests at most, of all of them together. */
  constructor(gateways: readonly Program[], count: number, most: number) {
    this.#left = most;
    const calls = Array.from({ length: count }, (_, i) => gateways[i % gateways.length]).map((gateway) =>
      gateway === undefined ? Promise.resolve() : this.#call(gateway),
    );
    this.#running = Promise.all(calls).then(() => {});
  }

  /** Resolves when all are answered; after `stop`, or when all requests are used up. */
  get ended(): Promise<void> {
    return this.#running.then(() => this.#agent.destroy());
  }

  stop(): void {
    this.#stopped = true;
  }

  async #call({ name, url }: Program): Promise<void> {
    while (!this.#stopped && this.#left > 0) {
      this.#left -= 1;
      const { sentAt, endedAt, status, body, complete } = await ask(
        `${url}/v1/chat/completions`,
        BODY,
        { "content-type": "application/json" },
        this.#agent,
      ).answer;
      const good = status === 200 && complete && body.endsWith("}") && !body.includes('"error"');
      this.seen.push({ gateway: name, sentAt, endedAt, status, good });
    }
  }
}

/** The q-th part of them, in ascending order. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}
