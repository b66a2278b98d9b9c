import { parseJson } from "@farmgate/shared";
import { type JsonObject, type StreamTranslation, TranslationError, type WorkerEvent } from "../translation.ts";
import { BlockQueue } from "./block-queue.ts";
import { choiceOf, pieceOf, toldError } from "./chat-answer.ts";
import { isObject } from "./fields.ts";
import { emptyMessage, type MessageFrame } from "./message.ts";
import { messageEnd, messageStart } from "./message-events.ts";
import { type MessageUsage, NO_USAGE, usageOf } from "./message-usage.ts";
import { stopOf } from "./message-stop.ts";

/**
 * A stream of chat as one of messages. The end is told once the worker has told a reason for it and nothing more comes:
 * usage follows behind the reason, and some engines send no `[DONE]`.
 */
export class MessageStream implements StreamTranslation {
  readonly #frame: MessageFrame;
  readonly #blocks: BlockQueue;
  #started = false;
  /** The choice that told why the answer ended; null: none did so far. */
  #last: JsonObject | null = null;
  #usage: MessageUsage = NO_USAGE;
  /** Set at `[DONE]`: what follows counts for nothing. */
  #over = false;

  constructor(frame: MessageFrame) {
    this.#frame = frame;
    this.#blocks = new BlockQueue(frame.id);
  }

  push({ event, data }: WorkerEvent): string {
    const text = data.trim();
    if (this.#over || text === "") return "";
    if (text === "[DONE]") {
      this.#over = true;
      return "";
    }
    if (event === "error") throw toldError(data);
    const chunk = parseJson(data);
    if (!isObject(chunk)) throw new TranslationError("an event that is no JSON object");
    return this.#take(chunk);
  }

  end(): string | null {
    if (this.#last === null) return null;
    const rest = this.#blocks.end();
    return rest + messageEnd(stopOf(this.#last, this.#blocks.called, this.#frame.stops), this.#usage);
  }

  #take(chunk: JsonObject): string {
    const choice = choiceOf(chunk);
    this.#usage = usageOf(chunk) ?? this.#usage;
    let out = "";
    if (!this.#started) {
      this.#started = true;
      out += messageStart(emptyMessage(this.#frame, chunk));
    }
    if (choice === null) return out;
    const { thinking, text, calls } = pieceOf(choice["delta"]);
    if (this.#frame.thinks) out += this.#blocks.addText("thinking", thinking);
    out += this.#blocks.addText("text", text);
    for (const call of calls) out += this.#blocks.addCall(call);
    if (typeof choice["finish_reason"] === "string" && choice["finish_reason"] !== "") this.#finish(choice);
    return out;
  }

  /** Read again at the end; one that tells a failure is told at once. */
  #finish(choice: JsonObject): void {
    stopOf(choice, this.#blocks.called, this.#frame.stops);
    this.#last = choice;
  }
}
