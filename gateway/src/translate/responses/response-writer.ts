import type { JsonObject, TranslationContext } from "../translation.ts";
import { CallItem } from "./call-item.ts";
import type { Emit, ItemStatus, OpenItem } from "./open-item.ts";
import type { CallPiece, ChatPiece } from "./read-chat.ts";
import { type ResponseState, responseObject } from "./response-object.ts";
import { TextItem, type TextKind } from "./text-item.ts";

/** A call that is being written. */
interface OpenCall {
  index: number | null;
  id: string;
  item: OpenItem;
}

/**
 * Writes a response down as chat pieces come: each step gives the events that tell it, and `response` is what they
 * come to. A text is closed when something else begins; a call stays open to the end, since a worker may write several
 * at once.
 */
export class ResponseWriter {
  readonly #body: JsonObject;
  readonly #context: TranslationContext;
  readonly #custom: ReadonlySet<string>;
  readonly #thinking: TextKind;
  readonly #items: OpenItem[] = [];
  readonly #calls: OpenCall[] = [];
  readonly #emit: Emit;
  /** What is not closed yet. */
  readonly #open = new Set<OpenItem>();
  #text: { kind: TextKind; item: OpenItem } | null = null;
  #begun = false;
  #model = "";
  #usage: JsonObject | null = null;
  #response: object = {};

  constructor(body: JsonObject, context: TranslationContext, custom: ReadonlySet<string>) {
    this.#body = body;
    this.#context = context;
    this.#custom = custom;
    this.#thinking = asksForSummary(body) ? "summary" : "reasoning";
    let sequence = 0;
    this.#emit = (name, data) => {
      const type = `response.${name}`;
      const event = JSON.stringify({ type, sequence_number: sequence, ...data });
      sequence += 1;
      return `event: ${type}\ndata: ${event}\n\n`;
    };
  }

  add(piece: ChatPiece): string {
    this.#model ||= piece.model;
    this.#usage = piece.usage ?? this.#usage;
    let events = this.#begin();
    if (piece.reasoning !== "") events += this.#write(this.#thinking, piece.reasoning);
    if (piece.text !== "") events += this.#write("message", piece.text);
    for (const call of piece.calls) events += this.#writeCall(call);
    return events;
  }

  /** The worker's answer is complete; `finish` is its reason. */
  finish(finish: string | null): string {
    let events = this.#begin();
    const reason = reasonOf(finish);
    const status = reason === null ? "completed" : "incomplete";
    const last = this.#items.at(-1);
    const statusOf = (item: OpenItem): ItemStatus => (item === last ? status : "completed");
    for (const item of this.#open) events += item.close(statusOf(item));
    const output = this.#items.map((item) => item.toItem(statusOf(item)));
    this.#response = this.#toResponse({ status, reason, output, usage: this.#usage });
    return events + this.#emit(status, { response: this.#response });
  }

  /** The finished response. */
  get response(): object {
    return this.#response;
  }

  #begin(): string {
    if (this.#begun) return "";
    this.#begun = true;
    const response = this.#toResponse({ status: "in_progress", reason: null, output: [], usage: null });
    return this.#emit("created", { response }) + this.#emit("in_progress", { response });
  }

  #write(kind: TextKind, text: string): string {
    if (this.#text?.kind === kind) return this.#text.item.add(text);
    const closed = this.#closeText();
    const item = new TextItem(kind, this.#emit, this.#items.length, this.#context.requestId);
    this.#text = { kind, item };
    return closed + this.#opened(item) + item.add(text);
  }

  #writeCall(piece: CallPiece): string {
    const call = this.#callOf(piece);
    if (call !== null) return piece.arguments === "" ? "" : call.item.add(piece.arguments);
    const closed = this.#closeText();
    const kind = this.#custom.has(piece.name) ? "custom" : "function";
    const item = new CallItem(kind, this.#emit, this.#items.length, this.#context.requestId, piece);
    this.#calls.push({ index: piece.index, id: piece.id, item });
    return closed + this.#opened(item) + (piece.arguments === "" ? "" : item.add(piece.arguments));
  }

  /**
   * The call that a piece belongs to; null: a new one begins. Some servers give all calls the same index, or none: a
   * piece with a name and another id begins a call there.
   */
  #callOf({ index, id, name }: CallPiece): OpenCall | null {
    const call = this.#calls.findLast((open) => index === null || open.index === index) ?? null;
    const isOther = name !== "" && (id === "" ? index === null : id !== call?.id);
    return isOther ? null : call;
  }

  #opened(item: OpenItem): string {
    this.#items.push(item);
    this.#open.add(item);
    return item.open();
  }

  #closeText(): string {
    const item = this.#text?.item;
    if (item === undefined) return "";
    this.#text = null;
    this.#open.delete(item);
    return item.close("completed");
  }

  #toResponse(state: Omit<ResponseState, "model">): object {
    return responseObject(this.#body, this.#context, { ...state, model: this.#model });
  }
}

function reasonOf(finish: string | null): ResponseState["reason"] {
  if (finish === "length") return "max_output_tokens";
  return finish === "content_filter" ? finish : null;
}

function asksForSummary({ reasoning }: JsonObject): boolean {
  const summary =
    typeof reasoning === "object" && reasoning !== null && "summary" in reasoning ? reasoning.summary : null;
  return typeof summary === "string" && summary !== "none";
}
