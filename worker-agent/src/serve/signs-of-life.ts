import type { ServerResponse } from "node:http";
import { type CancelTimer, type Clock, HEADER } from "@farmgate/shared";

/**
 * Between two signs while a request waits, in milliseconds. A gateway whose time for the first byte is not well above
 * it would end requests that only wait their turn. A thousand waiting ones cost about 1.5 % of a core for it, and 1 %
 * at the gateway.
 */
const EVERY_MS = 1_000;

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

  /** It has its grant, after so many milliseconds; a wait without any sign was so short that its end needs none. */
  granted(waitedMs: number): void {
    this.stop();
    if (this.#wanted && waitedMs > EVERY_MS) this.#send();
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
