import type { Socket } from "node:net";
import type { Clock } from "@farmgate/shared";

/** How long one side may go on once the other has ended, in milliseconds. */
const LINGER_MS = 10_000;

/**
 * Two connections that are one: bytes go both ways as they come, each side waits for the other, and the end of one
 * ends the other once it has all that was on its way. No silence ends it: a side that is gone without a word is found by
 * TCP's own keep-alive. `onEnd` is called once, when both are closed, with the upstream's error, if it broke.
 */
export class Tunnel {
  readonly #caller: Socket;
  readonly #upstream: Socket;
  readonly #clock: Clock;
  readonly #onEnd: (broke: Error | null) => void;
  #lastByteAt: number;
  #broke: Error | null = null;
  #open = 2;
  #stopTimer: (() => void) | null = null;

  constructor(caller: Socket, upstream: Socket, clock: Clock, onEnd: (broke: Error | null) => void) {
    this.#caller = caller;
    this.#upstream = upstream;
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#lastByteAt = clock.now();
    upstream.on("error", (error) => {
      this.#broke ??= error;
    });
    caller.on("error", () => {});
    upstream.setNoDelay(true);
    upstream.on("data", () => {
      this.#lastByteAt = clock.now();
    });
    this.#follow(caller, upstream);
    this.#follow(upstream, caller);
    caller.pipe(upstream);
    upstream.pipe(caller);
  }

  /** When the upstream last sent something, on the clock's scale. */
  get lastByteAt(): number {
    return this.#lastByteAt;
  }

  /** Ends both sides now. */
  destroy(): void {
    this.#caller.destroy();
    this.#upstream.destroy();
  }

  #follow(side: Socket, other: Socket): void {
    side.once("end", () => this.#linger());
    const closed = () => {
      other.destroySoon();
      this.#linger();
      this.#open -= 1;
      if (this.#open > 0) return;
      this.#stopTimer?.();
      this.#onEnd(this.#broke);
    };
    if (side.closed) queueMicrotask(closed);
    else side.once("close", closed);
  }

  #linger(): void {
    this.#stopTimer ??= this.#clock.after(LINGER_MS, () => this.destroy());
  }
}
