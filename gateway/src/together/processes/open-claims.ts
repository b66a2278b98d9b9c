import type { Clock } from "@farmgate/shared";
import type { Claimed } from "../hub.ts";

interface Open {
  since: number;
  resolve(claimed: Claimed): void;
}

/** A member's claims that wait for their answers; one that waits too long is `alone`. */
export class OpenClaims {
  readonly #clock: Clock;
  readonly #mostMs: number;
  /** The oldest first. */
  readonly #open = new Map<number, Open>();
  #last = 0;
  /** One timer for all of them: claims are many, and hardly any waits. */
  #isLooking = false;

  constructor(clock: Clock, mostMs: number) {
    this.#clock = clock;
    this.#mostMs = mostMs;
  }

  /** Claims are numbered from 1 on. */
  begin(): { number: number; answer: Promise<Claimed> } {
    const number = ++this.#last;
    const answer = new Promise<Claimed>((resolve) => {
      this.#open.set(number, { since: this.#clock.now(), resolve });
    });
    if (!this.#isLooking) this.#lookIn(this.#mostMs);
    return { number, answer };
  }

  answered(number: number, claimed: Claimed): void {
    this.#open.get(number)?.resolve(claimed);
    this.#open.delete(number);
  }

  endAll(): void {
    for (const number of this.#open.keys()) this.answered(number, { kind: "alone" });
  }

  #lookIn(ms: number): void {
    this.#isLooking = true;
    this.#clock.after(ms, () => this.#look());
  }

  #look(): void {
    this.#isLooking = false;
    const now = this.#clock.now();
    for (const [number, { since }] of this.#open) {
      const leftMs = since + this.#mostMs - now;
      if (leftMs > 0) return this.#lookIn(leftMs);
      this.answered(number, { kind: "alone" });
    }
  }
}
