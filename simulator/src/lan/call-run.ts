import type { Choice, EndedCall, SentCall } from "@farmgate/gateway/policies";
import type { Clock } from "@farmgate/shared";
import type { AskedTokens } from "./worker-run.ts";

/** What a token is taken to have in bytes: the gateway sees no tokens. */
const BYTES_PER_TOKEN = 4;

/** A request at the gateway as what decides about calls sees it. Virtual milliseconds. */
export class CallRun implements EndedCall, SentCall {
  readonly arrivedAt: number;
  readonly tokens: AskedTokens;
  readonly tap: { readonly streamed: boolean };
  deadlineAt: number | null;
  place: string | null = null;
  worker: string | null = null;
  warmth: EndedCall["warmth"] = null;
  upstreamModel = "";
  askedAt: number | null = null;
  sent: { bytes: number } | null = null;
  /** When an agent let it out of its queue. */
  #turnAt = 0;
  /** When its first token comes, if nothing happens before; NaN: not known yet. */
  #firstByteDue = Number.NaN;
  readonly #clock: Pick<Clock, "now">;

  constructor(tokens: AskedTokens, deadlineAt: number | null, clock: Pick<Clock, "now">) {
    this.tokens = tokens;
    this.deadlineAt = deadlineAt;
    this.arrivedAt = clock.now();
    // What writes no tokens answers at once with the whole.
    this.tap = { streamed: tokens.output > 0 };
    this.#clock = clock;
  }

  get bytes(): number {
    return this.tokens.prompt * BYTES_PER_TOKEN;
  }

  get firstByteAt(): number | null {
    return this.#firstByteDue <= this.#clock.now() ? this.#firstByteDue : null;
  }

  get attempt(): EndedCall["attempt"] {
    if (this.askedAt === null) return null;
    const { firstByteAt } = this;
    const lastDataAt = firstByteAt === null ? null : this.#clock.now();
    return { firstByteFrom: this.#turnAt, firstDataAt: firstByteAt, lastDataAt };
  }

  sentTo({ worker, warmth, upstreamModel }: Choice): void {
    this.place = worker.config.name;
    this.worker = this.place;
    this.warmth = warmth;
    this.upstreamModel = upstreamModel;
    this.askedAt = this.#clock.now();
    this.#turnAt = this.askedAt;
    this.#firstByteDue = Number.NaN;
    this.sent = { bytes: this.bytes };
  }

  turnCame(): void {
    this.#turnAt = this.#clock.now();
  }

  begun(firstTokenAt: number): void {
    this.#firstByteDue = firstTokenAt;
  }
}
