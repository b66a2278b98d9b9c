import { FarmError, isEventStream, takesMoreEvents } from "@farmgate/shared";
import { type AnswerMeaning, meaningFrom } from "@farmgate/engines";
import type { AnswerRelay, ExchangeFailure } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import type { Choice } from "../routing/types.ts";
import type { AttemptEnd, AttemptTarget } from "./attempt.ts";
import type { Call, Received } from "./call.ts";
import { answerHeaders } from "./headers.ts";
import { fitsOpenStream, OpenedAnswer } from "./opened-answer.ts";
import { tellAnswered, tellEnded, tellOther } from "./tell-catalog.ts";
import { tellLearned } from "./tell-learned.ts";

/** An answer that was passed on, up to its end or to where it broke. */
export interface Relayed {
  kind: "relayed";
  status: number;
  error: FarmError | null;
}

const EMPTY = Buffer.alloc(0);

/** The caller's side of one try: what its answer means, and how it is passed on. */
export class CallerSide implements AttemptTarget {
  readonly worker: string;
  readonly #farm: Farm;
  readonly #call: Call;
  readonly #received: Received;
  readonly #choice: Choice;
  readonly #relay: AnswerRelay;
  /** Set for an answer that comes into a stream which was begun before. */
  #opened: OpenedAnswer | null = null;

  constructor(farm: Farm, call: Call, received: Received, choice: Choice, relay: AnswerRelay) {
    this.worker = choice.worker.config.name;
    this.#farm = farm;
    this.#call = call;
    this.#received = received;
    this.#choice = choice;
    this.#relay = relay;
  }

  meaning(answer: { status: number; body: string }): AnswerMeaning {
    return meaningFrom(this.#choice.worker.engine, answer);
  }

  get retellsErrors(): boolean {
    return this.#opened !== null;
  }

  takes(status: number, rawHeaders: readonly string[]): boolean {
    return !this.#call.opened || fitsOpenStream(status, rawHeaders);
  }

  accept(status: number, rawHeaders: string[]): void {
    const call = this.#call;
    this.letGoOfBody();
    call.phase = "answering";
    call.firstByteAt = this.#farm.clock.now();
    call.takesComments &&= call.opened || takesMoreEvents(rawHeaders);
    if (call.opened) this.#opened = new OpenedAnswer(call, this.#relay, status, rawHeaders);
    else this.#relay.start(status, answerHeaders(rawHeaders, this.#origin(), call.cors));
    call.tap.eventStream = isEventStream(rawHeaders);
    if (status >= 300) return;
    tellAnswered(this.#farm, call);
    if (call.prefix !== null) this.#farm.affinity.answered(call.prefix, this.worker);
  }

  write(chunk: Buffer): boolean {
    return this.#opened === null ? this.#relay.write(chunk) : this.#opened.write(chunk);
  }

  /** The request is sent to nobody any more. */
  letGoOfBody(): void {
    this.#received.body = EMPTY;
    this.#call.share.release();
  }

  finish({ status, broke }: Extract<AttemptEnd, { kind: "relayed" }>): Relayed {
    const call = this.#call;
    if (status < 300) tellAnswered(this.#farm, call);
    if (status < 300 && broke === null) tellEnded(this.#farm, call, "whole");
    if (status < 300 && broke?.kind === "timeout" && call.goneError === null) tellEnded(this.#farm, call, "stalled");
    if (broke === null) {
      if (status === 200) tellLearned(this.#farm, call, this.#choice);
      if (status === 200) tellOther(this.#farm, call, this.#choice);
      this.#relay.finish(this.#opened?.last());
      return { kind: "relayed", status, error: null };
    }
    const error = call.goneError ?? brokenError(this.worker, broke);
    this.#relay.break(call.family, error, call.id);
    return { kind: "relayed", status, error };
  }

  #origin() {
    const { id: requestId, attempts, weighed } = this.#call;
    const { upstreamModel: model, warmth } = this.#choice;
    return { requestId, worker: this.worker, model, warmth, attempts, weighed };
  }
}

/** What a caller is told of an answer that broke after it had begun. */
function brokenError(worker: string, broke: ExchangeFailure): FarmError {
  return broke.kind === "timeout"
    ? new FarmError("timeout_idle", `Worker "${worker}" stopped sending in the middle of its answer.`)
    : new FarmError("worker_failed", `Worker "${worker}" broke off in the middle of its answer (${broke.message}).`);
}
