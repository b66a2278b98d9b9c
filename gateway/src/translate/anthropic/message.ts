import { parseJson } from "@farmgate/shared";
import { type JsonObject, TranslationError } from "../translation.ts";
import { choiceOf, pieceOf } from "./chat-answer.ts";
import { isObject } from "./fields.ts";
import { type MessageStop, stopOf } from "./message-stop.ts";
import { type MessageUsage, NO_USAGE, usageOf } from "./message-usage.ts";

/** What an answer is made of besides what the worker says. */
export interface MessageFrame {
  /** The message's id. */
  id: string;
  /** The model, where the worker does not name it. */
  model: string;
  /** The stop sequences of the request. */
  stops: readonly string[];
  /** The caller wants to see what the model thinks. */
  thinks: boolean;
}

export type MessageBlock =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: JsonObject };

/** An answer of `/v1/messages`. */
export interface Message extends MessageStop {
  id: string;
  type: "message";
  role: "assistant";
  model: string;
  content: readonly MessageBlock[];
  usage: MessageUsage;
}

/** The message with which an answer begins: what is not known yet is empty. */
export function emptyMessage({ id, model }: MessageFrame, answer: JsonObject): Message {
  const named = answer["model"];
  return {
    id,
    type: "message",
    role: "assistant",
    model: typeof named === "string" && named !== "" ? named : model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: NO_USAGE,
  };
}

/** A whole answer of chat as a message. Throws TranslationError where it is none. */
export function messageOf(answer: unknown, frame: MessageFrame): Message {
  if (!isObject(answer)) throw new TranslationError("an answer that is no JSON object");
  const choice = choiceOf(answer);
  if (choice === null || !isObject(choice["message"])) throw new TranslationError("an answer without a message");
  const { thinking, text, calls } = pieceOf(choice["message"]);
  const content: MessageBlock[] = [];
  if (thinking !== "" && frame.thinks) content.push({ type: "thinking", thinking, signature: "" });
  if (text !== "") content.push({ type: "text", text });
  for (const [i, { id, name, args }] of calls.entries()) {
    if (name === null) throw new TranslationError("a call of a tool that is not named");
    content.push({ type: "tool_use", id: id ?? callId(frame.id, i), name, input: inputOf(args) });
  }
  const stop = stopOf(choice, calls.length > 0, frame.stops);
  return { ...emptyMessage(frame, answer), content, ...stop, usage: usageOf(answer) ?? NO_USAGE };
}

/** The id of the nth call of an answer, for an engine that gives it none. */
export function callId(messageId: string, n: number): string {
  return messageId.replace(/^msg/, "toolu") + `_${n}`;
}

/** What a model wrote that is no JSON object is handed on in the wrapping that Anthropic has for it. */
function inputOf(args: string): JsonObject {
  if (args.trim() === "") return {};
  const input = parseJson(args);
  return isObject(input) ? input : { INVALID_JSON: args };
}
