import { apiForm, headerValue, parseJson } from "@farmgate/shared";
import { type EventReader, readEvents, readLines } from "./read-events.ts";
import {
  type AnswerTime,
  type StreamTranslation,
  type Translated,
  TranslationError,
  UntoldError,
  type WorkerEvent,
} from "./translation.ts";

/** A worker's answer on its way to a caller of another API. Made for one try, once its head has come. */
export class TranslatedAnswer {
  readonly #translated: Translated;
  readonly #contentType: string;
  /** null: the worker answers with one whole body. */
  readonly #reader: EventReader | null;
  readonly #stream: StreamTranslation;
  #at: AnswerTime = { wallMs: 0, sinceSentMs: 0 };
  #out = "";
  #problem: string | null = null;
  #untold = false;

  /** `callerStreams`: what a stream of the caller's API is made of. */
  constructor(translated: Translated, callerStreams: "events" | "lines" | null, rawHeaders: readonly string[]) {
    this.#translated = translated;
    this.#contentType = contentTypeFor(translated.streams ? callerStreams : null);
    this.#stream = translated.stream();
    const take = (event: WorkerEvent) => {
      this.#guarded(() => {
        this.#out += this.#stream.push(event, this.#at);
      });
    };
    // Who asked for a whole answer is given no stream, whatever the worker sends: it is read whole, and found to be none.
    this.#reader = translated.streams ? readerFor(translated, rawHeaders, take) : null;
  }

  /** The worker's answer is one whole body: it is translated at once, by `whole`. */
  get isWhole(): boolean {
    return this.#reader === null;
  }

  /** What is wrong with the worker's answer; null: nothing so far. */
  get problem(): string | null {
    return this.#problem;
  }

  /** The problem is only that it does not tell what was asked for. */
  get untold(): boolean {
    return this.#untold;
  }

  /** The worker's headers with what describes its body replaced, flat. */
  headers(rawHeaders: readonly string[]): string[] {
    const kept: string[] = ["content-type", this.#contentType];
    for (let i = 0; i < rawHeaders.length; i += 2) {
      const name = rawHeaders[i] ?? "";
      if (!OF_THE_BODY.has(name.toLowerCase())) kept.push(name, rawHeaders[i + 1] ?? "");
    }
    return kept;
  }

  /** What a piece of the worker's stream comes to; empty: nothing yet. Once there is a problem nothing more comes. */
  push(chunk: Buffer, at: AnswerTime): string {
    this.#at = at;
    this.#guarded(() => this.#reader?.push(chunk));
    return this.#take();
  }

  /** The worker's answer has ended. A `problem` tells that it ended too early. */
  end(at: AnswerTime): string {
    if (this.#reader === null) return "";
    this.#at = at;
    this.#reader.end();
    this.#guarded(() => {
      const last = this.#stream.end(at);
      if (last === null) this.#problem = "the worker's stream ended before its answer was complete";
      else this.#out += last;
    });
    return this.#take();
  }

  /** A whole answer; null: it is not what the worker's API has, as `problem` says. */
  whole(body: Buffer, at: AnswerTime): string | null {
    const answer = parseJson(body.toString("utf8"));
    let text: string | null = null;
    this.#guarded(() => {
      if (typeof answer !== "object" || answer === null) throw new TranslationError("an answer that is no JSON object");
      text = this.#translated.streams
        ? this.#translated.wholeAsStream(answer, at)
        : JSON.stringify(this.#translated.whole(answer, at));
    });
    return text;
  }

  #guarded(step: () => void): void {
    if (this.#problem !== null) return;
    try {
      step();
    } catch (error) {
      // What JSON.parse takes may nest too deep to be written again.
      if (error instanceof RangeError) this.#problem = "an answer that nests too deep";
      else if (error instanceof TranslationError) this.#problem = error.message;
      else throw error;
      this.#untold = error instanceof UntoldError;
    }
  }

  #take(): string {
    const out = this.#out;
    this.#out = "";
    return out;
  }
}

const OF_THE_BODY: ReadonlySet<string> = new Set([
  "content-type",
  "content-length",
  "content-encoding",
  "etag",
  "digest",
]);

function contentTypeFor(streams: "events" | "lines" | null): string {
  if (streams === "events") return "text/event-stream";
  return streams === "lines" ? "application/x-ndjson" : "application/json";
}

function readerFor(
  { api }: Translated,
  rawHeaders: readonly string[],
  onEvent: (event: WorkerEvent) => void,
): EventReader | null {
  const type = (headerValue(rawHeaders, "content-type") ?? "").toLowerCase();
  if (type.startsWith("text/event-stream")) return readEvents(onEvent);
  if (type.startsWith("application/x-ndjson")) return readLines(onEvent);
  // Some servers label their streams as plain text; a JSON body they label as such.
  const streams = apiForm(api).streams;
  if (type.includes("json") || streams === null || type === "") return null;
  return streams === "lines" ? readLines(onEvent) : readEvents(onEvent);
}
