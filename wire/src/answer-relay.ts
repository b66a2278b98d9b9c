import type { ServerResponse } from "node:http";
import {
  type ApiFamily,
  type FarmError,
  isEventStream,
  streamErrorChunk,
  takesMoreEvents,
  takesMoreLines,
} from "@farmgate/shared";
import type { AnswerTail } from "./answer-tail.ts";

/** Where one upstream's answer goes. */
export interface Relay {
  /** The head: `headers` is finished, flat. */
  start(status: number, headers: string[]): void;
  /** In place of `start`, where the head has gone out already. */
  join(): void;
  /** False: no more until the caller has taken it. */
  write(chunk: Buffer): boolean;
  /** The answer is complete; `last` is a piece of our own behind it. */
  finish(last?: string): void;
  /** It broke after its head. */
  break(family: ApiFamily, error: FarmError, requestId: string): void;
}

/**
 * Passes one upstream's answer on to the caller, byte for byte. Nothing is parsed on the way: the tail keeps
 * references to the last pieces, and that is all.
 */
export class AnswerRelay implements Relay {
  readonly #response: ServerResponse;
  readonly #tail: AnswerTail;
  readonly #resume: () => void;
  #takesMoreEvents = false;
  #boundary: "event" | "line" = "event";
  #wrote = false;
  #paused = false;

  /** `resume` is called when the caller has taken what made `write` answer false. */
  constructor(response: ServerResponse, tail: AnswerTail, resume: () => void) {
    this.#response = response;
    this.#tail = tail;
    this.#resume = resume;
  }

  /** `headers` is the finished head, flat. */
  start(status: number, headers: string[]): void {
    this.#takesMoreEvents = takesMoreEvents(headers) || takesMoreLines(headers);
    this.#boundary = isEventStream(headers) ? "event" : "line";
    this.#response.writeHead(status, headers);
    if (!isEventStream(headers)) return;
    // The head of a stream goes out even when its first event is slow; when both came together, in one piece.
    queueMicrotask(() => {
      if (!this.#wrote && !this.#response.writableEnded) this.#response.flushHeaders();
    });
  }

  /** In place of `start`, where the head of a stream of events has gone out already: only the bytes follow. */
  join(): void {
    this.#takesMoreEvents = true;
  }

  write(chunk: Buffer): boolean {
    this.#wrote = true;
    this.#tail.add(chunk);
    if (this.#response.write(chunk)) return true;
    if (!this.#paused) {
      this.#paused = true;
      this.#response.once("drain", () => {
        this.#paused = false;
        this.#resume();
      });
    }
    return false;
  }

  /** `last` is a piece of our own behind the answer. */
  finish(last: string = ""): void {
    this.#wrote = true;
    this.#response.end(last);
  }

  /**
   * The answer broke after its head was passed on. A stream of events or lines is told so inside; any other body is cut off
   * with its connection, so that the caller sees the truncation.
   */
  break(family: ApiFamily, error: FarmError, requestId: string): void {
    this.#wrote = true;
    if (this.#response.destroyed) return;
    if (this.#takesMoreEvents) {
      this.#response.end(streamErrorChunk(family, error, requestId, this.#tail.atBoundary(this.#boundary)));
    } else {
      this.#response.destroy();
    }
  }
}
