import type { Clock } from "@farmgate/shared";
import { trusting, type WholeAnswer, wholeAnswer } from "@farmgate/wire";
import { Agent } from "undici";

/** Limit on a connection where a question has more time than that; in milliseconds. */
const CONNECT_MS = 10_000;

/** More than any list of models; a longer answer is cut off there. */
const MAX_BYTES = 4 * 1_024 ** 2;

/** `status` 0: no answer, and `text` says why. */
export interface EngineAnswer {
  status: number;
  text: string;
}

export interface EngineQuestion {
  url: string;
  /** Sent as a POST with JSON; null: a GET. */
  json: object | null;
  /** Sent as `Authorization: Bearer`. */
  apiKey?: string | null;
  /** As of `createPollAgent`. */
  ca?: string | null | undefined;
  limitMs: number;
  signal: AbortSignal;
}

/** Asks engines small questions, each on a connection of its own: what it meets is the engine that runs now. */
export class EngineAsker {
  readonly #clock: Clock;
  readonly #agent = new Agent({ pipelining: 0, connect: { timeout: CONNECT_MS } });
  /** For engines with authorities of their own, by these. */
  readonly #trusting = new Map<string, Agent>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Never rejects: an engine that does not answer in time is an answer too. */
  async ask({ url, json, apiKey = null, ca = null, limitMs, signal }: EngineQuestion): Promise<EngineAnswer> {
    const { origin, pathname, search } = new URL(url);
    const headers = apiKey === null ? [] : ["authorization", `Bearer ${apiKey}`];
    if (json !== null) headers.push("content-type", "application/json");
    const body = json === null ? null : Buffer.from(JSON.stringify(json));
    const request = { origin, method: json === null ? "GET" : "POST", path: pathname + search, headers, body };
    const limits = { ms: limitMs, bytes: MAX_BYTES };
    const answer = await wholeAnswer(this.#agentFor(ca), this.#clock, request, limits, signal);
    const { head, cut } = answer;
    if (head !== null && (cut === null || cut === "large")) {
      return { status: head.status, text: answer.body.toString("utf8") };
    }
    return { status: 0, text: whyNone(cut) };
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent, ...this.#trusting.values()].map((agent) => agent.destroy()));
  }

  #agentFor(ca: string | null): Agent {
    if (ca === null) return this.#agent;
    const agent =
      this.#trusting.get(ca) ?? new Agent({ pipelining: 0, connect: { ...trusting(ca), timeout: CONNECT_MS } });
    this.#trusting.set(ca, agent);
    return agent;
  }
}

function whyNone(cut: WholeAnswer["cut"]): string {
  if (cut === "slow") return "no answer in time";
  if (cut === null || typeof cut === "string") return "it was not waited for";
  return cut.kind === "refused" ? "nothing listens there" : cut.message;
}
