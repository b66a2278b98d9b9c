import { parseJson } from "@farmgate/shared";
import { objectOf } from "../json-fields.ts";
import type { Emit, ItemStatus, OpenItem } from "./open-item.ts";
import type { CalledTool } from "./tools.ts";

const CALL_FORMS = {
  function: { prefix: "fc", type: "function_call", events: "function_call_arguments", field: "arguments" },
  /** What the worker writes is JSON around the text that the tool takes: it is told once it is complete. */
  custom: { prefix: "ctc", type: "custom_tool_call", events: "custom_tool_call_input", field: "input" },
} as const;

/** A call of a function, or of a tool that takes free text. */
export class CallItem implements OpenItem {
  readonly #kind: keyof typeof CALL_FORMS;
  readonly #emit: Emit;
  readonly #index: number;
  readonly #id: string;
  readonly #callId: string;
  readonly #name: string;
  readonly #namespace: string | null;
  #text = "";

  /** A worker that gives its calls no ids gets them here. */
  constructor(called: CalledTool & { id: string | null }, emit: Emit, index: number, stem: string) {
    this.#kind = called.custom ? "custom" : "function";
    this.#emit = emit;
    this.#index = index;
    this.#id = `${CALL_FORMS[this.#kind].prefix}_${stem}_${index}`;
    this.#callId = called.id ?? `call_${stem}_${index}`;
    this.#name = called.name;
    this.#namespace = called.namespace;
  }

  open(): string {
    return this.#emit("output_item.added", { output_index: this.#index, item: this.#item("in_progress", "") });
  }

  add(text: string): string {
    this.#text += text;
    return this.#kind === "custom" ? "" : this.#delta(text);
  }

  close(status: ItemStatus): string {
    const { events, field } = CALL_FORMS[this.#kind];
    const input = this.#input();
    return (
      (this.#kind === "custom" && input !== "" ? this.#delta(input) : "") +
      this.#emit(`${events}.done`, { ...this.#place(), name: this.#name, [field]: input }) +
      this.#emit("output_item.done", { output_index: this.#index, item: this.toItem(status) })
    );
  }

  toItem(status: ItemStatus): object {
    return this.#item(status, this.#input());
  }

  #delta(text: string): string {
    return this.#emit(`${CALL_FORMS[this.#kind].events}.delta`, { ...this.#place(), delta: text });
  }

  #input(): string {
    if (this.#kind === "function") return this.#text;
    const { input } = objectOf(parseJson(this.#text));
    return typeof input === "string" ? input : this.#text;
  }

  #item(status: string, input: string): object {
    const { type, field } = CALL_FORMS[this.#kind];
    const group = this.#namespace === null ? {} : { namespace: this.#namespace };
    return { id: this.#id, type, status, call_id: this.#callId, name: this.#name, ...group, [field]: input };
  }

  #place(): object {
    return { item_id: this.#id, output_index: this.#index };
  }
}
