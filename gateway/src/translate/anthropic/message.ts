import { argumentsOf } from "../chat/call-args.ts";
import { type JsonObject, TranslationError } from "../translation.ts";
import { readWhole } from "../chat/answer-stream.ts";
import { readChat } from "../chat/read-chat.ts";
import { type MessageStop, stopOf } from "./message-stop.ts";
import { type MessageUsage, messageUsage, NO_USAGE } from "./message-usage.ts";

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

/** The message with which an answer begins: what is not known yet is empty. `named`: the model as the worker has it. */
export function emptyMessage({ id, model }: MessageFrame, named: string): Message {
  return {
    id,
    type: "message",
    role: "assistant",
    model: named || model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: NO_USAGE,
  };
}

/** A whole answer of chat as a message. Throws TranslationError where it is none. */
export function messageOf(answer: unknown, frame: MessageFrame): Message {
  const piece = readWhole(readChat, answer);
  const { model, thinking, text, calls } = piece;
  const content: MessageBlock[] = [];
  if (thinking !== "" && frame.thinks) content.push({ type: "thinking", thinking, signature: "" });
  if (text !== "") content.push({ type: "text", text });
  for (const [i, { id, name, args }] of calls.entries()) {
    if (name === null) throw new TranslationError("a call of a tool that is not named");
    content.push({ type: "tool_use", id: id ?? callId(frame.id, i), name, input: inputOf(args) });
  }
  const stop = stopOf(piece, calls.length > 0, frame.stops);
  return { ...emptyMessage(frame, model), content, ...stop, usage: messageUsage(piece.figures) };
}

/** The id of the nth call of an answer, for an engine that gives it none. */
export function callId(messageId: string, n: number): string {
  return messageId.replace(/^msg/, "toolu") + `_${n}`;
}

/** What a model wrote that is no JSON object is handed on in the wrapping that Anthropic has for it. */
function inputOf(args: string): JsonObject {
  return argumentsOf(args) ?? { INVALID_JSON: args };
}
