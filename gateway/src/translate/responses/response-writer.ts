import type { AnswerWriter } from "../chat/answer-stream.ts";
import { CallTable } from "../chat/call-table.ts";
import type { CallPiece, ChatPiece } from "../chat/chat-piece.ts";
import { NO_FIGURES, withFigures } from "../chat/figures.ts";
import { type JsonObject, type TranslationContext, TranslationError } from "../translation.ts";
import { CallItem } from "./call-item.ts";
import type { Emit, ItemStatus, OpenItem } from "./open-item.ts";
import { type ResponseState, responseObject } from "./response-object.ts";
import { TextItem, type TextKind } from "./text-item.ts";
import type { Tools } from "./tools.ts";

/** A call that is being written. */
interface OpenCall extends CallPiece {
  item: OpenItem;
}

/**
 * Writes a response down as chat pieces come: each step gives the events that tell it, and `response` is what they
 * come to. A text is closed when something else begins; a call stays open to the end, since a worker may write several
 * at once.
 */
export class ResponseWriter implements AnswerWriter {
  readonly #body: JsonObject;
  readonly #context: TranslationContext;
  readonly #called: Tools["called"];
  readonly #thinking: TextKind;
  readonly #items: OpenItem[] = [];
  readonly #calls = new CallTable<OpenCall>();
  readonly #emit: Emit;
  /** What is not closed yet. */
  readonly #open = new Set<OpenItem>();
  #text: { kind: TextKind; item: OpenItem } | null = null;
  #begun = false;
  #model = "";
  #figures = NO_FIGURES;
  #finish: string | null = null;
  #response: object = {};

  constructor(body: JsonObject, context: TranslationContext, called: Tools["called"]) {
    this.#body = body;
    this.#context = context;
    this.#called = called;
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
    this.#figures = withFigures(this.#figures, piece.figures);
    this.#finish = piece.finish ?? this.#finish;
    let events = this.#begin();
    if (piece.thinking !== "") events += this.#write(this.#thinking, piece.thinking);
    if (piece.text !== "") events += this.#write("message", piece.text);
    for (const call of piece.calls) events += this.#writeCall(call);
    return events;
  }

  finish(): string {
    let events = this.#begin();
    const reason = reasonOf(this.#finish);
    const status = reason === null ? "completed" : "incomplete";
    const last = this.#items.at(-1);
    const statusOf = (item: OpenItem): ItemStatus => (item === last ? status : "completed");
    for (const item of this.#open) events += item.close(statusOf(item));
    const output = this.#items.map((item) => item.toItem(statusOf(item)));
    this.#response = this.#toResponse({ status, reason, output, figures: this.#figures });
    return events + this.#emit(status, { response: this.#response });
  }

  /** The finished response. */
  get response(): object {
    return this.#response;
  }

  #begin(): string {
    if (this.#begun) return "";
    this.#begun = true;
    const response = this.#toResponse({ status: "in_progress", reason: null, output: [], figures: NO_FIGURES });
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
    let events = "";
    const { item } = this.#calls.add(piece, (first) => {
      const { id, name } = first;
      if (name === null) throw new TranslationError("a call of a tool that is not named");
      const tool = this.#called.get(name) ?? { name, namespace: null, custom: false };
      const begun = new CallItem({ ...tool, id }, this.#emit, this.#items.length, this.#context.requestId);
      events = this.#closeText() + this.#opened(begun);
      return { ...first, item: begun };
    });
    return piece.args === "" ? events : events + item.add(piece.args);
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
