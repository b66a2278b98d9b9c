import { readErrorReason } from "@farmgate/engines";
import { type JsonObject, TranslationError } from "../translation.ts";
import { isObject } from "./fields.ts";

/** What a message of chat holds, or one piece of it in a stream. */
export interface ChatPiece {
  thinking: string;
  text: string;
  calls: readonly CallPiece[];
}

/** A call of a tool, or a piece of one. null: not told. */
export interface CallPiece {
  /** Which call of the answer it belongs to. */
  index: number | null;
  id: string | null;
  name: string | null;
  /** JSON text, or a piece of it. */
  args: string;
}

/** The answer that was asked for, of a whole body or of one event; null: it holds none. Throws what the worker told. */
export function choiceOf(answer: JsonObject): JsonObject | null {
  const { choices, error } = answer;
  if (error != null) throw toldError(JSON.stringify(answer));
  const list: unknown[] = Array.isArray(choices) ? choices : [];
  return list.filter(isObject).find(({ index }) => index === undefined || index === null || index === 0) ?? null;
}

export function toldError(body: string): TranslationError {
  return new TranslationError(`it told an error: ${readErrorReason(body) || "without words"}`);
}

/** `message` of a whole answer, `delta` of a piece. Engines call what a model thinks by two names. */
export function pieceOf(message: unknown): ChatPiece {
  if (!isObject(message)) return { thinking: "", text: "", calls: [] };
  const { content, refusal, reasoning_content: thinking, reasoning, tool_calls: calls } = message;
  const list: unknown[] = Array.isArray(calls) ? calls : [];
  return {
    thinking: textOf(thinking) || textOf(reasoning),
    text: textOf(content) + textOf(refusal),
    calls: list.filter(isObject).map(callOf),
  };
}

function callOf({ index, id, function: called }: JsonObject): CallPiece {
  const { name, arguments: args } = isObject(called) ? called : {};
  return {
    index: typeof index === "number" ? index : null,
    id: nonEmpty(id),
    name: nonEmpty(name),
    // Some engines send the arguments as the object that they are.
    args: isObject(args) ? JSON.stringify(args) : textOf(args),
  };
}

function nonEmpty(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** A text, or the text parts of a list. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  return value.map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : "")).join("");
}
