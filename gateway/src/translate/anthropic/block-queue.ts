import { GrowingObject } from "../growing-object.ts";
import { TranslationError } from "../translation.ts";
import type { CallPiece } from "./chat-answer.ts";
import { callId, type MessageBlock } from "./message.ts";
import { blockDelta, blockStart, blockStop } from "./message-events.ts";

interface QueuedBlock {
  type: MessageBlock["type"];
  /** Of a call. */
  id: string;
  name: string | null;
  /** What has come and was not written yet. */
  pending: string;
  /** All arguments of a call so far. */
  args: GrowingObject;
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
  readonly #calls: QueuedBlock[] = [];
  readonly #byIndex = new Map<number, QueuedBlock>();
  /** The first call of each id. */
  readonly #byId = new Map<string, QueuedBlock>();
  #closed = 0;

  constructor(messageId: string) {
    this.#messageId = messageId;
  }

  get called(): boolean {
    return this.#calls.length > 0;
  }

  /** More of a thought or a text; the events that can be written now. */
  addText(type: "thinking" | "text", text: string): string {
    if (text === "") return "";
    let block = this.#waiting.at(-1);
    if (block?.type !== type) block = this.#begin(type, null);
    block.pending += text;
    return this.#write();
  }

  /** A call, or more of one; the events that can be written now. */
  addCall(piece: CallPiece): string {
    const block = this.#find(piece) ?? this.#beginCall(piece);
    block.name ??= piece.name;
    if (block.closed) {
      if (piece.args.trim() !== "") throw new TranslationError("more of a call whose arguments were complete");
      return "";
    }
    block.pending += piece.args;
    block.args.add(piece.args);
    return this.#write();
  }

  /** The answer has ended: all that is left. */
  end(): string {
    let out = "";
    for (;;) {
      out += this.#write();
      const head = this.#waiting[0];
      if (head === undefined) return out;
      if (!head.opened) throw new TranslationError("a call of a tool that is not named");
      out += this.#close(head);
    }
  }

  /**
   * The call that a piece belongs to; null: a new one.
   * (1) By its index, else the one that an id names, else the last. (2) Another id is another call, whatever the index:
   * some engines number all calls 0, or none. (3) So is a name behind complete arguments, where there are no ids.
   */
  #find({ index, id, name, args }: CallPiece): QueuedBlock | null {
    const named = id === null ? undefined : this.#byId.get(id);
    const block = index === null ? (named ?? this.#calls.at(-1)) : this.#byIndex.get(index); // (1)
    if (block === undefined || block === named) return block ?? null;
    if (id !== null) return null; // (2)
    return name !== null && args !== "" && block.args.isComplete ? null : block; // (3)
  }

  #beginCall({ index, id, name }: CallPiece): QueuedBlock {
    const block = this.#begin("tool_use", id ?? callId(this.#messageId, this.#calls.length));
    block.name = name;
    this.#calls.push(block);
    if (!this.#byId.has(block.id)) this.#byId.set(block.id, block);
    if (index !== null) this.#byIndex.set(index, block);
    return block;
  }

  #begin(type: QueuedBlock["type"], id: string | null): QueuedBlock {
    const block = {
      type,
      id: id ?? "",
      name: null,
      pending: "",
      args: new GrowingObject(),
      opened: false,
      closed: false,
    };
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
      if (head.type === "tool_use" && !head.args.isComplete) return out;
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

/** null: the name of the tool has not come yet. */
function openingOf({ type, id, name }: QueuedBlock): MessageBlock | null {
  switch (type) {
    case "thinking":
      return { type, thinking: "", signature: "" };
    case "text":
      return { type, text: "" };
    case "tool_use":
      return name === null ? null : { type, id, name, input: {} };
  }
}
