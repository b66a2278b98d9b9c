import type { ServerResponse } from "node:http";
import { type CancelTimer, type Clock, HEADER } from "@farmgate/shared";

/** Between two signs while a request waits, in milliseconds. */
const EVERY_MS = 10_000;
/** After a shorter wait its end needs no sign: the gateway's clock has hardly run. */
const SHORT_MS = 1_000;

/**
 * Tells a gateway that its request waits in the queue, and when that wait has ended, by `102 Processing`: its time for
 * the first byte is to count from the grant. Everyone else is told nothing, since few clients expect such an answer.
 */
export class SignsOfLife {
  readonly #response: ServerResponse;
  readonly #clock: Clock;
  readonly #wanted: boolean;
  #stopTimer: CancelTimer = () => {};

  constructor(response: ServerResponse, clock: Clock) {
    this.#response = response;
    this.#clock = clock;
    const { headers, httpVersion } = response.req;
    this.#wanted = headers[HEADER.hop] !== undefined && httpVersion === "1.1";
  }

  /** The request waits from now on. */
  waits(): void {
    if (!this.#wanted) return;
    this.#stopTimer = this.#clock.after(EVERY_MS, () => {
      this.#send();
      this.waits();
    });
  }

  /** It has its grant, after so many milliseconds. */
  granted(waitedMs: number): void {
    this.stop();
    if (this.#wanted && waitedMs > SHORT_MS) this.#send();
  }

  /** Must be called when it waits no more. */
  stop(): void {
    this.#stopTimer();
    this.#stopTimer = () => {};
  }

  #send(): void {
    const response = this.#response;
    if (!response.headersSent && !response.destroyed && !response.writableEnded) response.writeProcessing();
  }
}
