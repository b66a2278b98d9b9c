import type { Emit, ItemStatus, OpenItem } from "./open-item.ts";

/** What reads as text: the answer itself, the reasoning, or the reasoning for a caller who asked for a summary of it. */
const TEXT_FORMS = {
  message: {
    prefix: "msg",
    part: (text: string) => ({ type: "output_text", text, annotations: [], logprobs: [] }),
    partEvents: "content_part",
    textEvents: "output_text",
    at: { content_index: 0 },
    more: { logprobs: [] },
  },
  reasoning: {
    prefix: "rs",
    part: (text: string) => ({ type: "reasoning_text", text }),
    partEvents: "content_part",
    textEvents: "reasoning_text",
    at: { content_index: 0 },
    more: {},
  },
  summary: {
    prefix: "rs",
    part: (text: string) => ({ type: "summary_text", text }),
    partEvents: "reasoning_summary_part",
    textEvents: "reasoning_summary_text",
    at: { summary_index: 0 },
    more: {},
  },
} as const;

export type TextKind = keyof typeof TEXT_FORMS;

/** A message or a reasoning, of one part. */
export class TextItem implements OpenItem {
  readonly #kind: TextKind;
  readonly #emit: Emit;
  readonly #index: number;
  readonly #id: string;
  #text = "";

  constructor(kind: TextKind, emit: Emit, index: number, stem: string) {
    this.#kind = kind;
    this.#emit = emit;
    this.#index = index;
    this.#id = `${TEXT_FORMS[kind].prefix}_${stem}_${index}`;
  }

  open(): string {
    const { part, partEvents } = TEXT_FORMS[this.#kind];
    return (
      this.#emit("output_item.added", { output_index: this.#index, item: this.#item("in_progress", []) }) +
      this.#emit(`${partEvents}.added`, { ...this.#place(), part: part("") })
    );
  }

  add(text: string): string {
    this.#text += text;
    const { textEvents, more } = TEXT_FORMS[this.#kind];
    return this.#emit(`${textEvents}.delta`, { ...this.#place(), delta: text, ...more });
  }

  close(status: ItemStatus): string {
    const { part, partEvents, textEvents, more } = TEXT_FORMS[this.#kind];
    return (
      this.#emit(`${textEvents}.done`, { ...this.#place(), text: this.#text, ...more }) +
      this.#emit(`${partEvents}.done`, { ...this.#place(), part: part(this.#text) }) +
      this.#emit("output_item.done", { output_index: this.#index, item: this.toItem(status) })
    );
  }

  toItem(status: ItemStatus): object {
    return this.#item(status, [TEXT_FORMS[this.#kind].part(this.#text)]);
  }

  #item(status: string, parts: readonly object[]): object {
    const id = this.#id;
    if (this.#kind === "message") return { id, type: "message", status, role: "assistant", content: parts };
    if (this.#kind === "summary") return { id, type: "reasoning", status, summary: parts };
    return { id, type: "reasoning", status, summary: [], content: parts };
  }

  #place(): object {
    return { item_id: this.#id, output_index: this.#index, ...TEXT_FORMS[this.#kind].at };
  }
}
