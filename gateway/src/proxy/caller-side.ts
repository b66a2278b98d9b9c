import { apiForm, FarmError, isEventStream, isLineStream, isPacked, NO_BODY, takesMoreEvents } from "@farmgate/shared";
import { type AnswerMeaning, meaningFrom } from "@farmgate/engines";
import { type ExchangeFailure, type Relay, Tunnel } from "@farmgate/wire";
import type { Socket } from "node:net";
import type { Farm } from "../farm.ts";
import type { Choice } from "../routing/types.ts";
import type { AttemptEnd, AttemptTarget, Unreadable } from "./attempt.ts";
import { TranslatedAnswer } from "../translate/translated-answer.ts";
import type { AnswerTime, Translated } from "../translate/translation.ts";
import { refusesUsage } from "../translate/without-usage.ts";
import type { Call, Received } from "./call.ts";
import { answerHeaders } from "./headers.ts";
import { fitsOpenStream, OpenedAnswer } from "./opened-answer.ts";
import { tellAnswered, tellEnded, tellOther } from "./tell-catalog.ts";
import { tellFirstByte, tellLearned, tellPrefix, tellRate } from "./tell-learned.ts";
import { toldFault } from "./told-fault.ts";

/** An answer that was passed on, up to its end or to where it broke. */
export interface Relayed {
  kind: "relayed";
  status: number;
  error: FarmError | null;
}

/** The caller's side of one try: what its answer means, and how it is passed on. */
export class CallerSide implements AttemptTarget {
  readonly worker: string;
  readonly #farm: Farm;
  readonly #call: Call;
  readonly #received: Received;
  readonly #choice: Choice;
  readonly #relay: Relay;
  /** As what the worker was asked; null: as the caller put it. */
  readonly #translated: Translated | null;
  /** The worker's answer, where it is translated. */
  #translation: TranslatedAnswer | null = null;
  /** The translation has failed by its own fault. */
  #isBroken = false;
  /** An error answer that is retold to a caller of another API. */
  #fault: Buffer[] | null = null;
  /** Set for an answer that comes into a stream which was begun before. */
  #opened: OpenedAnswer | null = null;

  constructor(farm: Farm, call: Call, received: Received, choice: Choice, translated: Translated | null, relay: Relay) {
    this.worker = choice.worker.config.name;
    this.#farm = farm;
    this.#call = call;
    this.#received = received;
    this.#choice = choice;
    this.#translated = translated;
    this.#relay = relay;
  }

  meaning(answer: { status: number; body: string }): AnswerMeaning {
    // It is asked once more then, without: `ask` in `forward.ts`.
    if (refusesUsage(this.#translated, answer)) return "worker_fault";
    return meaningFrom(this.#choice.worker.engine, answer);
  }

  get asksStream(): boolean {
    return this.#received.scan.stream === true;
  }

  get retellsErrors(): boolean {
    return this.#opened !== null || this.#fault !== null;
  }

  takes(status: number, rawHeaders: readonly string[]): boolean {
    if (status < 300 && this.#translated !== null) return !isPacked(rawHeaders);
    return !this.#call.opened || fitsOpenStream(status, rawHeaders);
  }

  gathers(status: number, rawHeaders: readonly string[]): boolean {
    if (status >= 300) return false;
    if (this.#translated === null) return this.#call.isGathered;
    this.#translation = new TranslatedAnswer(this.#translated, apiForm(this.#call.api).streams, rawHeaders);
    return this.#translation.isWhole;
  }

  readWhole(body: Buffer): Buffer | Unreadable {
    const translation = this.#translation;
    if (translation === null) return body;
    const text = this.#translating(() => translation.whole(body, this.#time()));
    if (text !== null) return Buffer.from(text);
    return { reason: this.#problem ?? "no answer", untold: translation.untold };
  }

  accept(status: number, workerHeaders: string[]): void {
    const call = this.#call;
    const rawHeaders = this.#headersOf(status, workerHeaders);
    this.#begins();
    call.takesComments &&= call.opened || takesMoreEvents(rawHeaders);
    if (call.opened) this.#opened = new OpenedAnswer(call, this.#relay, status, rawHeaders);
    else this.#relay.start(status, answerHeaders(rawHeaders, this.#origin(), call.ownHeaders));
    call.tap.streamed = isEventStream(rawHeaders) || isLineStream(rawHeaders);
    call.tap.packed = isPacked(rawHeaders);
    if (status >= 300) return;
    tellAnswered(this.#farm, call);
    tellPrefix(this.#farm, call, this.worker);
  }

  write(chunk: Buffer): boolean {
    if (this.#fault !== null) {
      this.#fault.push(chunk);
      return true;
    }
    const translation = this.#translation;
    if (translation === null || translation.isWhole) return this.#pass(chunk);
    const text = this.#translating(() => translation.push(chunk, this.#time())) ?? "";
    return text === "" || this.#pass(Buffer.from(text));
  }

  join(workerHeaders: string[], upstream: Socket, onEnd: (broke: Error | null) => void): Tunnel {
    const { socket } = this.#call;
    if (socket === null) throw new Error("no WebSocket was asked for");
    this.#begins();
    tellAnswered(this.#farm, this.#call);
    const headers = answerHeaders(workerHeaders, this.#origin(), []);
    const caller = socket.switch(["connection", "Upgrade", "upgrade", "websocket", ...headers]);
    return new Tunnel(caller, upstream, this.#farm.clock, onEnd);
  }

  get isSpoiled(): boolean {
    return this.#problem !== null;
  }

  /** What is wrong with a translated answer; null: nothing so far. */
  get #problem(): string | null {
    return this.#isBroken ? "an answer that could not be translated" : (this.#translation?.problem ?? null);
  }

  /** Thrown on, a fault of the translation's own would leave the request without an end, and its place taken. */
  #translating(step: () => string | null): string | null {
    if (this.#isBroken) return null;
    try {
      return step();
    } catch (error) {
      this.#isBroken = true;
      this.#farm.log.error({ id: this.#call.id, err: error }, "an answer could not be translated");
      return null;
    }
  }

  /** The request is sent to nobody any more. */
  letGoOfBody(): void {
    this.#received.body = NO_BODY;
    this.#call.share.release();
  }

  finish({ status, broke: brokeOff }: Extract<AttemptEnd, { kind: "relayed" }>): Relayed {
    const call = this.#call;
    const broke = brokeOff ?? this.#endTranslation();
    if (status < 300) tellAnswered(this.#farm, call);
    if (status < 300 && broke === null) tellEnded(this.#farm, call, "whole");
    if (status < 300 && brokeOff !== null && call.goneError === null) {
      tellEnded(this.#farm, call, brokeOff.kind === "timeout" ? "stalled" : "broke");
    }
    if (status === 200 && broke === null) tellFirstByte(this.#farm, call);
    if (broke === null) {
      if (status === 200) tellRate(this.#farm, call);
      if (status === 200) tellLearned(this.#farm, call, this.#choice);
      if (status === 200) tellOther(this.#farm, call, this.#choice);
      if (call.socket === null || status !== 101)
        this.#relay.finish(this.#fault === null ? this.#opened?.last() : this.#retold(this.#fault, status));
      // A WebSocket whose caller stood still was cut off.
      return { kind: "relayed", status, error: status === 101 ? call.goneError : null };
    }
    const error = call.goneError ?? brokenError(this.worker, broke, this.isSpoiled);
    this.#relay.break(call.family, error, call.id);
    return { kind: "relayed", status, error };
  }

  /** The worker's headers as they describe what the caller gets. */
  #headersOf(status: number, rawHeaders: string[]): string[] {
    if (this.#translated === null) return rawHeaders;
    if (status < 300) return this.#translation?.headers(rawHeaders) ?? rawHeaders;
    if (!this.#call.opened) this.#fault = [];
    return ["content-type", "application/json"];
  }

  #begins(): void {
    this.letGoOfBody();
    this.#call.phase = "answering";
    this.#call.firstByteAt = this.#farm.clock.now();
  }

  #pass(chunk: Buffer): boolean {
    return this.#opened === null ? this.#relay.write(chunk) : this.#opened.write(chunk);
  }

  /** What is left of a translated stream goes out; what is wrong with it counts as a break of the worker's. */
  #endTranslation(): ExchangeFailure | null {
    const translation = this.#translation;
    if (translation === null) return null;
    const text = this.#translating(() => translation.end(this.#time())) ?? "";
    if (text !== "") this.#pass(Buffer.from(text));
    const problem = this.#problem;
    return problem === null ? null : { phase: "body", kind: "protocol", reused: false, message: problem };
  }

  #retold(pieces: readonly Buffer[], status: number): string {
    const { family, id } = this.#call;
    return JSON.stringify(toldFault(family, status, Buffer.concat(pieces).toString("utf8"), id));
  }

  #time(): AnswerTime {
    const { clock } = this.#farm;
    return { wallMs: clock.wall(), sinceSentMs: clock.now() - (this.#call.askedAt ?? clock.now()) };
  }

  #origin() {
    const { id: requestId, family, attempts, weighed } = this.#call;
    const { upstreamModel: model, warmth } = this.#choice;
    return { family, requestId, worker: this.worker, model, warmth, attempts, weighed };
  }
}

/** What a caller is told of an answer that broke after it had begun; `quoted`: it tells the worker's own words. */
function brokenError(worker: string, broke: ExchangeFailure, quoted: boolean): FarmError {
  if (broke.kind === "timeout") {
    return new FarmError("timeout_idle", `Worker "${worker}" stopped sending in the middle of its answer.`);
  }
  const start = `Worker "${worker}" broke off in the middle of its answer`;
  const error = new FarmError("worker_failed", `${start} (${broke.message}).`);
  // An engine may quote what it was asked.
  if (quoted) error.logged = `${start}.`;
  return error;
}
