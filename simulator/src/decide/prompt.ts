import { digestOf } from "./digest.ts";

type Json = Readonly<Record<string, unknown>>;

/** A request's prompt as one text, much as a chat template makes one; every turn of a conversation extends the last. */
export function chatPrompt(messages: readonly unknown[], tools: unknown): string {
  const head = Array.isArray(tools) && tools.length > 0 ? turn("tools", JSON.stringify(tools)) : "";
  return `${head}${messages.map(messageTurn).join("")}<|assistant|>`;
}

/** The prompt of `/v1/responses`: instructions, then one text or a list of items. */
export function responsesPrompt(instructions: unknown, input: unknown): string {
  const system = typeof instructions === "string" ? [{ role: "system", content: instructions }] : [];
  const items = Array.isArray(input) ? input : [{ role: "user", content: input }];
  return chatPrompt([...system, ...items], null);
}

/** The prompt of `/v1/messages`, whose system text stands beside the messages. */
export function messagesPrompt(system: unknown, messages: readonly unknown[], tools: unknown): string {
  const first = system === undefined ? [] : [{ role: "system", content: system }];
  return chatPrompt([...first, ...messages], tools);
}

/** The prompts of `/v1/completions` or the inputs of `/v1/embeddings`: a text, a list of texts, or token ids. */
export function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (!Array.isArray(value)) return [];
  if (value.length > 0 && value.every((entry) => typeof entry === "number")) return [idsAsText(value)];
  return value.map((entry) => (Array.isArray(entry) ? idsAsText(entry) : String(entry)));
}

function messageTurn(message: unknown): string {
  const { role, content, tool_calls: calls } = (message ?? {}) as Json;
  const called = Array.isArray(calls) ? JSON.stringify(calls) : "";
  return turn(typeof role === "string" ? role : "item", contentText(content) + called);
}

function turn(role: string, text: string): string {
  return `<|${role}|>${text}<|end|>`;
}

function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return content === null || content === undefined ? "" : JSON.stringify(content);
  return content.map(partText).join("");
}

/** A picture or sound counts as a few tokens, not as the size of its base64. */
function partText(part: unknown): string {
  const { type, text } = (part ?? {}) as Json;
  if (typeof text === "string") return text;
  return `[${String(type)} ${digestOf(JSON.stringify(part)).slice(0, 16)}]`;
}

/** A token is four bytes here, so that a list of ids counts as many tokens as it has. */
function idsAsText(ids: readonly unknown[]): string {
  return ids.map((id) => Number(id).toString(36).padStart(4, " ").slice(-4)).join("");
}
