import { listOf, objectOf, textOf } from "../json-fields.ts";
import { type JsonObject, type TranslationContext, TranslationError } from "../translation.ts";
import { finishOf, usageOf } from "./read-line.ts";

interface ToolCall {
  id: string;
  type: "function";
  function: { name: string; arguments: string };
}

/** Writes one answer of Ollama's chat down as OpenAI has it, whole or line by line. */
export class ChatWriter {
  readonly #context: TranslationContext;
  readonly #usage: boolean;
  #begun = false;
  #calls = 0;
  #done = false;

  /** `usage`: the caller wants a last chunk with it. */
  constructor(context: TranslationContext, usage: boolean) {
    this.#context = context;
    this.#usage = usage;
  }

  /** The line that ends an answer has come. */
  get isDone(): boolean {
    return this.#done;
  }

  whole(answer: JsonObject): object {
    const { text, thinking, calls } = this.#read(answer);
    const message = {
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      refusal: null,
      ...(thinking === "" ? {} : { reasoning_content: thinking }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    const choice = { index: 0, message, logprobs: null, finish_reason: this.#finish(answer) };
    return { ...this.#head("chat.completion", answer), choices: [choice], usage: usageOf(answer) };
  }

  /** The chunks that a line comes to; behind the last one nothing more. */
  line(line: JsonObject): string {
    if (this.#done) return "";
    const numbered = this.#calls;
    const { text, thinking, calls } = this.#read(line);
    const deltas: object[] = this.#begun ? [] : [{ role: "assistant", content: "" }];
    this.#begun = true;
    if (thinking !== "") deltas.push({ reasoning_content: thinking });
    if (text !== "") deltas.push({ content: text });
    if (calls.length > 0) deltas.push({ tool_calls: calls.map((call, i) => ({ index: numbered + i, ...call })) });
    let chunks = deltas.map((delta) => this.#chunk(line, delta, null)).join("");
    if (line["done"] !== true) return chunks;
    this.#done = true;
    chunks += this.#chunk(line, {}, this.#finish(line));
    if (this.#usage) chunks += event({ ...this.#chunkHead(line), choices: [], usage: usageOf(line) });
    return `${chunks}data: [DONE]\n\n`;
  }

  #read(line: JsonObject) {
    const message = objectOf(line["message"]);
    const calls = listOf(message["tool_calls"]).map((call) => this.#toCall(objectOf(call)));
    return { text: textOf(message["content"]), thinking: textOf(message["thinking"]), calls };
  }

  #toCall({ id, function: told }: JsonObject): ToolCall {
    const { name, arguments: given } = objectOf(told);
    if (textOf(name) === "") throw new TranslationError("a call of a tool that is not named");
    const { requestId, wallMs } = this.#context;
    // Ids of calls must differ over a whole conversation, whatever ids its requests have.
    const made = `call_${requestId}_${wallMs.toString(36)}_${this.#calls}`;
    this.#calls += 1;
    const text = typeof given === "string" ? given : JSON.stringify(given ?? {});
    return { id: textOf(id) || made, type: "function", function: { name: textOf(name), arguments: text } };
  }

  #finish(done: JsonObject): string {
    return this.#calls > 0 ? "tool_calls" : finishOf(done);
  }

  #chunk(line: JsonObject, delta: object, finish: string | null): string {
    const choice = { index: 0, delta, logprobs: null, finish_reason: finish };
    return event({ ...this.#chunkHead(line), choices: [choice], ...(this.#usage ? { usage: null } : {}) });
  }

  #chunkHead(line: JsonObject): object {
    return this.#head("chat.completion.chunk", line);
  }

  #head(object: string, line: JsonObject): object {
    const { requestId, wallMs, model } = this.#context;
    const created = Math.floor(wallMs / 1_000);
    return { id: `chatcmpl-${requestId}`, object, created, model: textOf(line["model"]) || model };
  }
}

function event(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`;
}
