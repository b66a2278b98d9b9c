import type { Clock } from "@farmgate/shared";
import type { AnswerTail } from "@farmgate/wire";
import { type AnswerFigures, readAnswerFigures } from "./answer-figures.ts";

/** What a comment in a stream begins with. */
const COLON = 0x3a;

/** What became of a request, for the log and the metrics. Durations in milliseconds. */
export interface Served {
  /** What the caller was told, 499 when it left; a stream that broke off counts as 502 or 504. */
  status: number;
  waitedMs: number | null;
  firstByteMs: number | null;
  /** From the grant to the end, and what the answer told of its speed; null: not granted. */
  answer: { ms: number; figures: AnswerFigures } | null;
  error: string | null;
}

/** When what happened to a request. Milliseconds. */
export class RequestTimes {
  readonly #clock: Pick<Clock, "now">;
  readonly #startedAt: number;
  #waitedMs: number | null = null;
  #grantedAt: number | null = null;
  #headAt: number | null = null;
  #firstPieceAt: number | null = null;
  #isStream = false;

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
    this.#startedAt = clock.now();
  }

  get hasHead(): boolean {
    return this.#headAt !== null;
  }

  get sinceGrantMs(): number {
    return this.#clock.now() - (this.#grantedAt ?? 0);
  }

  granted(waitedMs: number): void {
    this.#waitedMs = waitedMs;
    this.#grantedAt = this.#clock.now();
  }

  waitsAgain(): void {
    this.#grantedAt = null;
  }

  head(isStream: boolean): void {
    this.#headAt = this.#clock.now();
    this.#isStream = isStream;
  }

  /** Some engines send comments (": keepalive") while they read the prompt: those are no piece of an answer. */
  data(chunk: Buffer): void {
    if (this.#firstPieceAt === null && chunk[0] !== COLON) this.#firstPieceAt = this.#clock.now();
  }

  /** At the end, of which `tail` are the last bytes. */
  told(tail: AnswerTail): Pick<Served, "waitedMs" | "firstByteMs" | "answer"> {
    return {
      waitedMs: this.#waitedMs,
      firstByteMs: this.#headAt === null ? null : this.#headAt - this.#startedAt,
      answer: this.#grantedAt === null ? null : this.#answered(this.#grantedAt, tail),
    };
  }

  #answered(grantedAt: number, tail: AnswerTail): { ms: number; figures: AnswerFigures } {
    const now = this.#clock.now();
    const firstPieceAt = this.#firstPieceAt;
    const figures = readAnswerFigures(tail.text(), {
      firstPieceMs: firstPieceAt === null ? null : firstPieceAt - grantedAt,
      streamedMs: this.#isStream && firstPieceAt !== null ? now - firstPieceAt : 0,
    });
    return { ms: now - grantedAt, figures };
  }
}
