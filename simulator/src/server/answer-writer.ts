import type { ServerResponse } from "node:http";
import type { Clock } from "@farmgate/shared";
import { type EngineError, errorBody } from "../decide/engine-error.ts";

/** Time for the last bytes to reach the caller: a reset overtakes what is still on its way. */
const BEFORE_RESET_MS = 20;

/** Writes one answer the way llama-server does, and breaks the connection where it was told to. */
export class AnswerWriter {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  /** Bytes of body until the reset. */
  #left: number;
  #broken = false;

  constructor(response: ServerResponse, clock: Clock, resetAfter: number | null) {
    this.#response = response;
    this.#clock = clock;
    this.#left = resetAfter ?? Number.POSITIVE_INFINITY;
    response.sendDate = false;
    response.setHeader("Server", "llama.cpp");
    response.setHeader("Access-Control-Allow-Origin", "");
  }

  /** True once the connection has been, or is about to be, reset on purpose. */
  get broken(): boolean {
    return this.#broken;
  }

  /** A whole JSON answer. */
  json(status: number, body: string): void {
    this.#response.statusCode = status;
    this.whole("application/json; charset=utf-8", body);
  }

  /** A whole answer of any type; of events, without a length. */
  whole(contentType: string, body: string | Uint8Array): void {
    const bytes = Buffer.from(body);
    this.#response.setHeader("Content-Type", contentType);
    if (contentType !== "text/event-stream") this.#response.setHeader("Content-Length", bytes.length);
    if (this.#send(bytes)) this.#response.end();
  }

  error(error: EngineError): void {
    this.json(error.status, errorBody(error));
  }

  /** More of an event stream. False: the caller reads slower than this writes; wait for `drained`. */
  events(text: string): boolean {
    if (!this.#response.headersSent) {
      this.#response.setHeader("X-Accel-Buffering", "no");
      this.#response.setHeader("Content-Type", "text/event-stream");
    }
    this.#send(text);
    return !this.#response.writableNeedDrain;
  }

  end(): void {
    if (!this.#broken) this.#response.end();
  }

  drained(then: () => void): void {
    this.#response.once("drain", then);
  }

  /** False when this is where the connection breaks. */
  #send(body: string | Buffer): boolean {
    if (this.#broken) return false;
    if (this.#left === Number.POSITIVE_INFINITY) {
      this.#response.write(body);
      return true;
    }
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    if (bytes.length < this.#left) {
      this.#left -= bytes.length;
      this.#response.write(bytes);
      return true;
    }
    this.#broken = true;
    const reset = () => this.#response.socket?.resetAndDestroy();
    if (this.#left === 0) reset();
    else this.#response.write(bytes.subarray(0, this.#left), () => this.#clock.after(BEFORE_RESET_MS, reset));
    return false;
  }
}
