import { argumentsOf } from "../chat/call-args.ts";
import { CallTable } from "../chat/call-table.ts";
import type { CallPiece } from "../chat/chat-piece.ts";
import { TranslationError } from "../translation.ts";
import { callId, type MessageBlock } from "./message.ts";
import { blockDelta, blockStart, blockStop } from "./message-events.ts";

/** A text or a thought has no more of a call than its empty fields. */
interface QueuedBlock extends CallPiece {
  type: MessageBlock["type"];
  /** Of a call, for an engine that gives it none. */
  madeId: string;
  /** What has come and was not written yet. */
  pending: string;
  opened: boolean;
  closed: boolean;
}

/**
 * The blocks of one answer. Chat may send pieces of several calls in any mixture; a message has one block after the
 * other. So the first block that is not closed is written as it comes, and those behind it wait.
 * A block is closed once another has begun and nothing more can come for it: a text or a thought at once, a call when
 * its arguments are a complete JSON object, and all of them at the end.
 */
export class BlockQueue {
  readonly #messageId: string;
  /** Not closed yet, in the order in which they began. */
  readonly #waiting: QueuedBlock[] = [];
  readonly #calls = new CallTable<QueuedBlock>();
  #closed = 0;

  constructor(messageId: string) {
    this.#messageId = messageId;
  }

  get called(): boolean {
    return this.#calls.all.length > 0;
  }

  /** More of a thought or a text; the events that can be written now. */
  addText(type: "thinking" | "text", text: string): string {
    if (text === "") return "";
    let block = this.#waiting.at(-1);
    if (block?.type !== type) block = this.#begin(type, NO_CALL, "");
    block.pending += text;
    return this.#write();
  }

  /** A call, or more of one; the events that can be written now. */
  addCall(piece: CallPiece): string {
    const block = this.#calls.add(piece, (first) => {
      return this.#begin("tool_use", first, callId(this.#messageId, this.#calls.all.length));
    });
    if (block.closed) {
      if (piece.args.trim() !== "") throw new TranslationError("more of a call whose arguments were complete");
      return "";
    }
    block.pending += piece.args;
    return this.#write();
  }

  /** The answer has ended: all that is left. `cut`: it ran out of tokens, and the last call's arguments may lack their end. */
  end(cut: boolean): string {
    let out = "";
    for (;;) {
      out += this.#write();
      const head = this.#waiting[0];
      if (head === undefined) return out;
      if (!head.opened) throw new TranslationError("a call of a tool that is not named");
      // A caller would run the tool with what there is of them.
      if (!cut && argumentsOf(head.args) === null)
        throw new TranslationError("a call whose arguments are no JSON object");
      out += this.#close(head);
    }
  }

  #begin(type: MessageBlock["type"], call: CallPiece, madeId: string): QueuedBlock {
    const block = { ...call, type, madeId, pending: "", opened: false, closed: false };
    this.#waiting.push(block);
    return block;
  }

  #write(): string {
    let out = "";
    for (;;) {
      const head = this.#waiting[0];
      if (head === undefined) return out;
      out += this.#writeMore(head);
      if (this.#waiting.length === 1 || !head.opened) return out;
      if (head.type === "tool_use" && !this.#calls.isComplete(head)) return out;
      out += this.#close(head);
    }
  }

  #writeMore(block: QueuedBlock): string {
    let out = "";
    if (!block.opened) {
      const opening = openingOf(block);
      if (opening === null) return "";
      block.opened = true;
      out += blockStart(this.#closed, opening);
    }
    const more = block.pending;
    block.pending = "";
    return more === "" ? out : out + blockDelta(this.#closed, block.type, more);
  }

  #close(head: QueuedBlock): string {
    this.#waiting.shift();
    head.closed = true;
    this.#closed += 1;
    return blockStop(this.#closed - 1, head.type);
  }
}

const NO_CALL: CallPiece = { index: null, id: null, name: null, args: "" };

/** null: the name of the tool has not come yet. */
function openingOf({ type, id, madeId, name }: QueuedBlock): MessageBlock | null {
  switch (type) {
    case "thinking":
      return { type, thinking: "", signature: "" };
    case "text":
      return { type, text: "" };
    case "tool_use":
      return name === null ? null : { type, id: id ?? madeId, name, input: {} };
  }
}
