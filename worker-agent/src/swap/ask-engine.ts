import type { Clock } from "@farmgate/shared";
import { GatheredBytes } from "@farmgate/wire";
import { Agent } from "undici";

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
  limitMs: number;
  signal: AbortSignal;
}

/** Asks engines small questions, each on a connection of its own: what it meets is the engine that runs now. */
export class EngineAsker {
  readonly #clock: Clock;
  readonly #agent = new Agent({ pipelining: 0, headersTimeout: 0, bodyTimeout: 0 });

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Never rejects: an engine that does not answer in time is an answer too. */
  async ask(question: EngineQuestion): Promise<EngineAnswer> {
    const limit = new AbortController();
    const stopTimer = this.#clock.after(question.limitMs, () => limit.abort(new Error("no answer in time")));
    try {
      const { origin, pathname, search } = new URL(question.url);
      const { statusCode, body } = await this.#agent.request({
        origin,
        path: pathname + search,
        method: question.json === null ? "GET" : "POST",
        headers: headersOf(question),
        body: question.json === null ? null : JSON.stringify(question.json),
        signal: AbortSignal.any([limit.signal, question.signal]),
      });
      const text = new GatheredBytes();
      for await (const chunk of body as AsyncIterable<Buffer>) {
        text.add(chunk);
        if (text.length > MAX_BYTES) break;
      }
      return { status: statusCode, text: text.bytes().toString("utf8") };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      return { status: 0, text: code === "ECONNREFUSED" ? "nothing listens there" : message };
    } finally {
      stopTimer();
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

function headersOf({ json, apiKey = null }: EngineQuestion): Record<string, string> {
  return {
    ...(json === null ? {} : { "content-type": "application/json" }),
    ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
  };
}
