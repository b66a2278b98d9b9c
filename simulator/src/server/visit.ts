import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "@farmgate/shared";
import { AnswerWriter } from "./answer-writer.ts";

/** One request at the engine's door. */
export class Visit {
  /** The engine's own number of it. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #clock: Clock;

  constructor(id: string, request: IncomingMessage, response: ServerResponse, clock: Clock) {
    // A request target need not be a URL: `new URL` would throw on one that is none, as `//`.
    const [path = "/", ...query] = (request.url ?? "/").split("?");
    this.id = id;
    this.method = request.method ?? "GET";
    this.path = path;
    this.query = new URLSearchParams(query.join("?"));
    this.request = request;
    this.#response = response;
    this.#clock = clock;
  }

  /** `?autoload=` overrides the engine's own choice. */
  get autoload(): boolean | undefined {
    const value = this.query.get("autoload");
    return value === null ? undefined : value !== "false" && value !== "0";
  }

  get key(): string | undefined {
    const { authorization, "x-api-key": plain } = this.request.headers;
    return authorization?.replace(/^Bearer /i, "") ?? (Array.isArray(plain) ? plain[0] : plain);
  }

  writer(resetAfter: number | null = null): AnswerWriter {
    return new AnswerWriter(this.#response, this.#clock, resetAfter);
  }

  /** Called once when the connection ends before the answer does. */
  onLeft(then: () => void): void {
    this.#response.once("close", () => {
      if (!this.#response.writableFinished) then();
    });
  }
}
