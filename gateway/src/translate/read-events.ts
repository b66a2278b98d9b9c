import { createParser } from "eventsource-parser";
import { TranslationError, type WorkerEvent } from "./translation.ts";

/** An event or line is at most so long, in characters: a whole picture or file has room in one. */
const MAX_EVENT = 32 * 1_024 ** 2;

/** Takes a stream's bytes as they come, split anywhere, and hands on its events. Throws `TranslationError`. */
export interface EventReader {
  push(bytes: Buffer): void;
  /** No more bytes come. */
  end(): void;
}

/** Reads server-sent events; comments are passed over. What an event is made of when the stream ends is dropped. */
export function readEvents(onEvent: (event: WorkerEvent) => void): EventReader {
  const decoder = new TextDecoder();
  const lines = new OpenLine(/[\r\n]/);
  /** Of the event under way. */
  let length = 0;
  const parser = createParser({
    onEvent({ event, data }) {
      length = 0;
      onEvent({ event: event ?? "", data });
    },
    onComment(comment) {
      // With its colon and its line's end. The lines of the event that it stands in still count.
      length = Math.max(0, length - comment.length - 2);
    },
  });
  return {
    push(bytes) {
      const text = lines.add(decoder.decode(bytes, { stream: true }));
      if (text === null) return;
      length += text.length;
      parser.feed(text);
      if (length > MAX_EVENT) throw tooLong();
    },
    end: () => {},
  };
}

/** Reads lines of JSON; the last one may lack its line break. */
export function readLines(onEvent: (event: WorkerEvent) => void): EventReader {
  const decoder = new TextDecoder();
  const open = new OpenLine(/\n/);
  let rest = "";
  const take = (line: string) => {
    const data = line.trim();
    if (data !== "") onEvent({ event: "", data });
  };
  return {
    push(bytes) {
      const text = open.add(decoder.decode(bytes, { stream: true }));
      if (text === null) return;
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      lines.forEach(take);
    },
    end: () => take(rest + open.rest()),
  };
}

/** Holds what comes until a line ends in it: joined with each piece anew, a long line would be gone over many times. */
class OpenLine {
  readonly #end: RegExp;
  #pieces: string[] = [];
  #length = 0;

  constructor(end: RegExp) {
    this.#end = end;
  }

  /** Everything since the last line's end was seen; null: none is in it yet. */
  add(piece: string): string | null {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#end.test(piece)) return this.rest();
    if (this.#length > MAX_EVENT) throw tooLong();
    return null;
  }

  rest(): string {
    const text = this.#pieces.length === 1 ? (this.#pieces[0] ?? "") : this.#pieces.join("");
    this.#pieces = [];
    this.#length = 0;
    return text;
  }
}

function tooLong(): TranslationError {
  return new TranslationError("an event that is too long");
}
