import { isoTime, parseJson } from "@farmgate/shared";
import type { AnswerTime, JsonObject, StreamTranslation, Translated, WorkerEvent } from "../translation.ts";
import { TranslationError } from "../translation.ts";
import { durations } from "./durations.ts";
import { asObject, type Figures, NOTHING_SAID, type Said, type SaidReader, withFigures } from "./said.ts";
import { ToolCalls } from "./tool-calls.ts";

/** What a model says in one line of Ollama's, or in its whole answer. */
interface Words {
  text: string;
  thinking: string;
  calls: readonly object[];
  logprobs: readonly object[];
}

/** How one of Ollama's two APIs puts what a model says. */
export type Wording = (words: Words) => object;

/** How answers come back: `read` knows the worker's API, `wording` the caller's. */
export function answersIn(
  wording: Wording,
  read: SaidReader,
  model: string,
): Pick<Translated, "whole" | "wholeAsStream" | "stream"> {
  const gathered = (answer: unknown) => {
    const speech = new Speech(model);
    const said = readWhole(read, answer);
    speech.hear(said, null);
    return { speech, words: { ...wordsOf(said), calls: speech.calls() } };
  };
  return {
    whole(answer, at) {
      const { speech, words } = gathered(answer);
      return { ...speech.head(at), ...wording(words), ...speech.last(at) };
    },
    wholeAsStream(answer, at) {
      const { speech, words } = gathered(answer);
      const first = isSilent(words) ? "" : line({ ...speech.head(at), ...wording(words), done: false });
      return first + line({ ...speech.head(at), ...wording(wordsOf(NOTHING_SAID)), ...speech.last(at) });
    },
    stream: () => new Lines(wording, read, model),
  };
}

/** A worker's stream as Ollama's lines. */
class Lines implements StreamTranslation {
  readonly #wording: Wording;
  readonly #read: SaidReader;
  readonly #speech: Speech;
  #told = false;

  constructor(wording: Wording, read: SaidReader, model: string) {
    this.#wording = wording;
    this.#read = read;
    this.#speech = new Speech(model);
  }

  push({ data }: WorkerEvent, at: AnswerTime): string {
    if (this.#told) return "";
    if (data.trim() === "[DONE]") return this.#tellEnd(at);
    const answer = asObject(parseJson(data));
    if (answer === null) throw new TranslationError("an event that is no JSON object");
    const said = this.#read(answer);
    const hadFinished = this.#speech.finish !== null;
    this.#speech.hear(said, at);
    const words = wordsOf(said);
    // The calls are complete once the model has come to its end.
    const calls = !hadFinished && this.#speech.finish !== null ? this.#speech.calls() : [];
    if (isSilent({ ...words, calls })) return "";
    return line({ ...this.#speech.head(at), ...this.#wording({ ...words, calls }), done: false });
  }

  end(at: AnswerTime): string | null {
    if (this.#told) return "";
    return this.#speech.finish === null ? null : this.#tellEnd(at);
  }

  /** Behind the usage, which follows the finish. A worker that never told why it ended has not come to its end. */
  #tellEnd(at: AnswerTime): string {
    if (this.#speech.finish === null) return "";
    this.#told = true;
    return line({ ...this.#speech.head(at), ...this.#wording(wordsOf(NOTHING_SAID)), ...this.#speech.last(at) });
  }
}

/** What is kept of an answer while it comes. */
class Speech {
  readonly #model: string;
  readonly #calls = new ToolCalls();
  #figures: Figures = NOTHING_SAID.figures;
  #firstMs: number | null = null;
  finish: string | null = null;

  constructor(model: string) {
    this.#model = model;
  }

  /** `at`: when it came, in a stream. */
  hear(said: Said, at: AnswerTime | null): void {
    for (const part of said.calls) this.#calls.add(part);
    this.finish ??= said.finish;
    this.#figures = withFigures(this.#figures, said.figures);
    if (!isSilent(said)) this.#firstMs ??= at?.sinceSentMs ?? null;
  }

  calls(): object[] {
    return this.#calls.whole(this.finish === "length");
  }

  head(at: AnswerTime) {
    return { model: this.#model, created_at: isoTime(at.wallMs) };
  }

  last(at: AnswerTime) {
    const reason = this.finish === null ? {} : { done_reason: doneReason(this.finish) };
    return { done: true, ...reason, ...durations(this.#figures, this.#firstMs, at) };
  }
}

function readWhole(read: SaidReader, answer: unknown): Said {
  const object: JsonObject | null = asObject(answer);
  if (object === null) throw new TranslationError("an answer that is no JSON object");
  const said = read(object);
  const isAnswer = Array.isArray(object["choices"]) ? object["choices"].length > 0 : "content" in object;
  if (!isAnswer) throw new TranslationError("an answer that says nothing");
  return said;
}

function wordsOf({ text, thinking, logprobs }: Said): Words {
  return { text, thinking, calls: [], logprobs };
}

function isSilent({ text, thinking, calls, logprobs }: Words | Said): boolean {
  return text === "" && thinking === "" && calls.length === 0 && logprobs.length === 0;
}

/** Ollama has no word of its own for an end by a tool call. */
function doneReason(finish: string): string {
  return finish === "tool_calls" || finish === "function_call" ? "stop" : finish;
}

function line(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
