import type { AnswerWriter } from "../chat/answer-stream.ts";
import type { ChatPiece } from "../chat/chat-piece.ts";
import { NO_FIGURES, withFigures } from "../chat/figures.ts";
import { BlockQueue } from "./block-queue.ts";
import { emptyMessage, type MessageFrame } from "./message.ts";
import { messageEnd, messageStart } from "./message-events.ts";
import { messageUsage } from "./message-usage.ts";
import { stopOf } from "./message-stop.ts";

/** Writes a message down as events. */
export class MessageWriter implements AnswerWriter {
  readonly #frame: MessageFrame;
  readonly #blocks: BlockQueue;
  #started = false;
  /** The piece that told why the answer ended; null: none did so far. */
  #last: ChatPiece | null = null;
  #figures = NO_FIGURES;

  constructor(frame: MessageFrame) {
    this.#frame = frame;
    this.#blocks = new BlockQueue(frame.id);
  }

  add(piece: ChatPiece): string {
    this.#figures = withFigures(this.#figures, piece.figures);
    if (piece.finish !== null) this.#last = piece;
    let out = this.#start(piece.model);
    if (this.#frame.thinks) out += this.#blocks.addText("thinking", piece.thinking);
    out += this.#blocks.addText("text", piece.text);
    for (const call of piece.calls) out += this.#blocks.addCall(call);
    return out;
  }

  finish(): string {
    const rest = this.#start("") + this.#blocks.end(this.#last?.finish === "length");
    const stop = stopOf(this.#last, this.#blocks.called, this.#frame.stops);
    return rest + messageEnd(stop, messageUsage(this.#figures));
  }

  #start(model: string): string {
    if (this.#started) return "";
    this.#started = true;
    return messageStart(emptyMessage(this.#frame, model));
  }
}
