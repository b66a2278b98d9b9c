import { FarmError } from "@farmgate/shared";
import { listOf, textOf } from "../json-fields.ts";
import { kindOf, nameAt, objectAt } from "../request-fields.ts";
import type { JsonObject } from "../translation.ts";
import { toChatContent } from "./content.ts";
import { nameInChat } from "./tools.ts";

interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | JsonObject[] | null;
  reasoning_content?: string;
  tool_calls?: JsonObject[];
  tool_call_id?: string;
}

/**
 * `instructions` and `input` as chat messages. Throws the FarmError that refuses them. `reasons`: the worker takes back
 * what its model thought, for which OpenAI's chat has no field.
 */
export function toMessages({ instructions, input }: JsonObject, reasons: boolean): readonly ChatMessage[] {
  const thread = new Thread(reasons);
  if (typeof instructions === "string" && instructions !== "") thread.say("system", instructions);
  if (typeof input === "string") thread.say("user", input);
  else if (Array.isArray(input))
    input.forEach((item, i) => addItem(thread, objectAt(item, `input[${i}]`), `input[${i}]`));
  else throw new FarmError("invalid_request", '"input" must be a text or a list of items.', { param: "input" });
  return thread.messages;
}

function addItem(thread: Thread, item: JsonObject, param: string): void {
  switch (item["type"] ?? "message") {
    case "message":
      return thread.say(roleOf(item["role"], param), toChatContent(item["content"], `${param}.content`));
    case "reasoning":
      return thread.think(listOf(item["content"]).length > 0 ? item["content"] : item["summary"]);
    case "function_call":
      return thread.call(textOf(item["call_id"]), calledName(item, param), textOf(item["arguments"]));
    case "custom_tool_call":
      return thread.call(
        textOf(item["call_id"]),
        calledName(item, param),
        JSON.stringify({ input: textOf(item["input"]) }),
      );
    case "function_call_output":
    case "custom_tool_call_output":
      return thread.return(textOf(item["call_id"]), toChatContent(item["output"], `${param}.output`));
    case "item_reference":
      throw new FarmError("not_supported", "Earlier items are not kept here: send them in full.", { param });
    default:
      throw new FarmError("not_supported", `Items of type ${kindOf(item["type"])} are not supported here.`, {
        param,
      });
  }
}

function calledName({ name, namespace }: JsonObject, param: string): string {
  return nameInChat(namespace, nameAt(name, `${param}.name`));
}

function roleOf(role: unknown, param: string): "system" | "user" | "assistant" {
  if (role === "user" || role === "assistant" || role === "system") return role;
  // Templates of open models know no developer.
  if (role === "developer") return "system";
  throw new FarmError("invalid_request", `"${param}.role" must be user, assistant, system or developer.`, { param });
}

/**
 * A conversation as it grows. One turn of the assistant (reasoning, text, calls: items of their own) is one message, as
 * the results of its calls must follow it at once; system texts that follow each other are one, as many templates take
 * no more.
 */
class Thread {
  readonly messages: ChatMessage[] = [];
  readonly #reasons: boolean;
  #reasoning = "";

  constructor(reasons: boolean) {
    this.#reasons = reasons;
  }

  say(role: "system" | "user" | "assistant", content: string | JsonObject[]): void {
    const last = this.messages.at(-1);
    if (role === "assistant") {
      if (last?.role === "assistant" && last.content === null) last.content = content;
      else this.messages.push({ role, content });
      this.#addReasoning();
    } else if (role === "system" && typeof content === "string" && isSystemText(last)) {
      last.content = `${last.content}\n\n${content}`;
    } else this.messages.push({ role, content });
  }

  /** For the turn that follows. */
  think(content: unknown): void {
    const text = toChatContent(content, "input");
    if (typeof text === "string" && this.#reasons) this.#reasoning += text;
  }

  call(id: string, name: string, text: string): void {
    if (this.messages.at(-1)?.role !== "assistant") this.messages.push({ role: "assistant", content: null });
    const turn = this.messages.at(-1);
    if (turn === undefined) return;
    turn.tool_calls ??= [];
    turn.tool_calls.push({ id, type: "function", function: { name, arguments: text } });
    this.#addReasoning();
  }

  return(id: string, content: string | JsonObject[]): void {
    this.messages.push({ role: "tool", tool_call_id: id, content });
  }

  #addReasoning(): void {
    const turn = this.messages.at(-1);
    if (this.#reasoning === "" || turn === undefined) return;
    turn.reasoning_content = (turn.reasoning_content ?? "") + this.#reasoning;
    this.#reasoning = "";
  }
}

function isSystemText(message: ChatMessage | undefined): message is ChatMessage & { content: string } {
  return message?.role === "system" && typeof message.content === "string";
}
