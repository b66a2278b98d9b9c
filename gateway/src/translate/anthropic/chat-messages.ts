import { isLenient } from "../dialect.ts";
import type { JsonObject, TranslationContext } from "../translation.ts";
import { type Block, blocksOf, type ChatPart, contentOf, partsOf } from "./content-parts.ts";
import { textAt, wrong } from "../request-fields.ts";
import { readTurns } from "./turns.ts";

/** How Claude Code marks its requests for Anthropic's own books: by a text that differs each time. */
const BOOKKEEPING = "x-anthropic-billing-header:";

/** A conversation as chat has it: the system text first, then the turns. */
export function chatMessages({ system, messages }: JsonObject, { engine }: TranslationContext): JsonObject[] {
  const { system: first, turns } = readTurns(messages);
  const text = systemText([...(system == null ? [] : blocksOf(system, "system")), ...first]);
  return [
    ...(text === "" ? [] : [{ role: "system", content: text }]),
    ...turns.flatMap(({ role, blocks }) =>
      role === "user" ? userMessages(blocks) : [assistantMessage(blocks, isLenient(engine))],
    ),
  ];
}

/** Without the bookkeeping, which would make every prompt a new one to the engine's cache. */
function systemText(blocks: readonly Block[]): string {
  const texts = blocks.map(({ type, block, at }) => {
    if (type !== "text") throw wrong(at, "expected a block of text.");
    return textAt(block["text"], `${at}.text`);
  });
  return texts.filter((text) => text !== "" && !text.startsWith(BOOKKEEPING)).join("\n\n");
}

/**
 * The results of tools, each a message of its own right behind the calls that it answers, then all that the user says
 * besides. A result holds text alone in chat: its pictures come first in what the user says.
 */
function userMessages(blocks: readonly Block[]): JsonObject[] {
  const results: JsonObject[] = [];
  const pictures: ChatPart[] = [];
  const said: ChatPart[] = [];
  for (const block of blocks) {
    if (block.type !== "tool_result") said.push(...partsOf(block));
    else results.push(toolMessage(block, pictures));
  }
  const parts = [...pictures, ...said];
  if (parts.length === 0 && results.length > 0) return results;
  return [...results, { role: "user", content: contentOf(parts) }];
}

function toolMessage({ block, at }: Block, pictures: ChatPart[]): JsonObject {
  const parts = block["content"] == null ? [] : blocksOf(block["content"], `${at}.content`).flatMap(partsOf);
  const texts = parts.map((part) => {
    if (part.type === "text") return part.text;
    pictures.push(part);
    return "[the picture follows]";
  });
  const text = texts.join("\n\n");
  return {
    role: "tool",
    tool_call_id: textAt(block["tool_use_id"], `${at}.tool_use_id`),
    content: block["is_error"] === true ? `Error: ${text}` : text,
  };
}

/** An earlier answer. What the model thought goes along where its engine takes it; what nobody can read does not. */
function assistantMessage(blocks: readonly Block[], takesThinking: boolean): JsonObject {
  let text = "";
  let thinking = "";
  const calls: JsonObject[] = [];
  for (const each of blocks) {
    const { type, block, at } = each;
    if (type === "text") text += textAt(block["text"], `${at}.text`);
    else if (type === "thinking") thinking += textAt(block["thinking"], `${at}.thinking`);
    else if (type === "tool_use") calls.push(toolCall(block, at));
    else if (type === "tool_result" || type === "image") throw wrong(at, `an answer holds no ${type}.`);
    else if (type !== "redacted_thinking") partsOf(each);
  }
  return {
    role: "assistant",
    content: text,
    ...(thinking !== "" && takesThinking && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function toolCall(block: JsonObject, at: string): JsonObject {
  const name = textAt(block["name"], `${at}.name`);
  const call = { name, arguments: JSON.stringify(block["input"] ?? {}) };
  return { id: textAt(block["id"], `${at}.id`), type: "function", function: call };
}
