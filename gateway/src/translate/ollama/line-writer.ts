import { isoTime } from "@farmgate/shared";
import { type AnswerWriter, type PieceReader, readWhole, translateStream } from "../chat/answer-stream.ts";
import { CallTable } from "../chat/call-table.ts";
import type { CallPiece, ChatPiece } from "../chat/chat-piece.ts";
import { NO_FIGURES, withFigures } from "../chat/figures.ts";
import type { AnswerTime, Translated } from "../translation.ts";
import { durations } from "./durations.ts";
import { logprobOf } from "./logprobs.ts";
import { wholeCalls } from "./tool-calls.ts";

/** What a model says in one line of Ollama's, or in its whole answer. */
interface Words {
  text: string;
  thinking: string;
  calls: readonly object[];
  logprobs: readonly object[];
}

/** How one of Ollama's two APIs puts what a model says. */
export type Wording = (words: Words) => object;

export const NO_WORDS: Words = { text: "", thinking: "", calls: [], logprobs: [] };

/** How answers come back: `read` knows the worker's API, `wording` the caller's. */
export function answersIn(
  wording: Wording,
  read: PieceReader,
  model: string,
): Pick<Translated, "whole" | "wholeAsStream" | "stream"> {
  const writer = () => new LineWriter(wording, model);
  return {
    whole: (answer, at) => writer().whole(readWhole(read, answer), at),
    wholeAsStream: (answer, at) => writer().wholeAsLines(readWhole(read, answer), at),
    stream: () => translateStream(read, writer()),
  };
}

/** Writes one answer as Ollama's lines. */
class LineWriter implements AnswerWriter {
  readonly #wording: Wording;
  readonly #model: string;
  readonly #calls = new CallTable<CallPiece>();
  #figures = NO_FIGURES;
  /** When the model's first word came, in a stream. */
  #firstMs: number | null = null;
  #finish: string | null = null;

  constructor(wording: Wording, model: string) {
    this.#wording = wording;
    this.#model = model;
  }

  add(piece: ChatPiece, at: AnswerTime): string {
    this.#hear(piece);
    const words = wordsOf(piece);
    if (!isSilent(words) || piece.calls.length > 0) this.#firstMs ??= at.sinceSentMs;
    return this.#more(words, at);
  }

  /** Calls are complete only now. */
  finish(at: AnswerTime): string {
    return this.#more({ ...NO_WORDS, calls: this.#wholeCalls() }, at) + this.#last(at);
  }

  whole(piece: ChatPiece, at: AnswerTime): object {
    this.#hear(piece);
    const words = { ...wordsOf(piece), calls: this.#wholeCalls() };
    return { ...this.#head(at), ...this.#wording(words), ...this.#end(at) };
  }

  wholeAsLines(piece: ChatPiece, at: AnswerTime): string {
    this.#hear(piece);
    return this.#more({ ...wordsOf(piece), calls: this.#wholeCalls() }, at) + this.#last(at);
  }

  #hear(piece: ChatPiece): void {
    for (const call of piece.calls) this.#calls.add(call, (first) => first);
    this.#finish ??= piece.finish;
    this.#figures = withFigures(this.#figures, piece.figures);
  }

  #wholeCalls(): object[] {
    return wholeCalls(this.#calls.all, this.#finish === "length");
  }

  #more(words: Words, at: AnswerTime): string {
    return isSilent(words) ? "" : line({ ...this.#head(at), ...this.#wording(words), done: false });
  }

  #last(at: AnswerTime): string {
    return line({ ...this.#head(at), ...this.#wording(NO_WORDS), ...this.#end(at) });
  }

  #head(at: AnswerTime): object {
    return { model: this.#model, created_at: isoTime(at.wallMs) };
  }

  #end(at: AnswerTime): object {
    const reason = this.#finish === null ? {} : { done_reason: doneReason(this.#finish) };
    return { done: true, ...reason, ...durations(this.#figures, this.#firstMs, at) };
  }
}

function wordsOf({ text, thinking, logprobs }: ChatPiece): Words {
  return { text, thinking, calls: [], logprobs: logprobs.map(logprobOf) };
}

function isSilent({ text, thinking, calls, logprobs }: Words): boolean {
  return text === "" && thinking === "" && calls.length === 0 && logprobs.length === 0;
}

/** Ollama has no word of its own for an end by a tool call. */
function doneReason(finish: string): string {
  return finish === "tool_calls" || finish === "function_call" ? "stop" : finish;
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
