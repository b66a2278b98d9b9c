import type { EngineName } from "@farmgate/engines";
import { parseJson } from "@farmgate/shared";
import { TranslatedAnswer } from "../../../src/translate/translated-answer.ts";
import { messagesToChat } from "../../../src/translate/anthropic/messages-to-chat.ts";

type Json = Record<string, unknown>;
interface ReadBlock extends Json {
  type: string;
}
interface ReadMessage {
  id: string;
  model: string;
  content: ReadBlock[];
  stop_reason: string | null;
  stop_sequence: string | null;
  usage: Json;
}

const AT = { wallMs: 0, sinceSentMs: 0 };
const EVENT_STREAM = ["content-type", "text/event-stream"];

/** A request put as chat, with what it needs and no more. */
export function translated(body: Json = {}, stream = true, engine: EngineName | null = "mlx") {
  const asked = { model: "asked", max_tokens: 9, messages: [{ role: "user", content: "hi" }], stream, ...body };
  return messagesToChat(asked, { model: "m", engine, requestId: "r1", wallMs: 0 });
}

/** What a caller gets of a worker's stream that comes in these pieces. */
export function translateStream(pieces: readonly Buffer[], body: Json = {}): { text: string; problem: string | null } {
  const answer = new TranslatedAnswer(translated(body), "events", EVENT_STREAM);
  let text = "";
  for (const piece of pieces) text += answer.push(piece, AT);
  text += answer.end(AT);
  return { text, problem: answer.problem };
}

/** Chat events as an engine sends them. */
export function chatEvents(chunks: readonly (object | string)[]): Buffer {
  return Buffer.from(chunks.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join(""));
}

/** One piece of the answer. */
export function delta(value: object, finish: string | null = null): object {
  return { model: "m-own", choices: [{ index: 0, delta: value, finish_reason: finish }] };
}

/**
 * Reads a stream as strictly as the protocol has it, and fails at what is out of place: one block at a time, by their
 * numbers, nothing behind the end. null: it did not come to its end.
 */
export function readMessage(text: string): ReadMessage | null {
  let message: ReadMessage | null = null;
  let open: { block: ReadBlock; json: string } | null = null;
  let unread = false;
  let stopped = false;
  for (const piece of text.split("\n\n").slice(0, -1)) {
    const [, name = "", data = ""] = /^event: ([^\n]*)\ndata: ([^\n]*)$/.exec(piece) ?? [];
    const event = JSON.parse(data) as Json & { type: string; index: number; delta: Json; usage: Json };
    if (event.type !== name || stopped) throw new Error(`out of place: ${piece}`);
    if (name === "message_start") {
      if (message !== null) throw new Error("begun twice");
      message = event["message"] as ReadMessage;
      continue;
    }
    if (message === null) throw new Error(`${name} before the message was begun`);
    if (name === "content_block_start") {
      if (open !== null || event.index !== message.content.length) throw new Error(`out of order: ${piece}`);
      open = { block: event["content_block"] as ReadBlock, json: "" };
      message.content.push(open.block);
    } else if (name === "content_block_delta" || name === "content_block_stop") {
      if (open === null || event.index !== message.content.length - 1) throw new Error(`no such block: ${piece}`);
      if (name === "content_block_delta") addTo(open, event.delta);
      else if (open.json !== "") {
        const input = parseJson(open.json);
        if (input === undefined) unread = true;
        else open.block["input"] = input;
      }
      if (name === "content_block_stop") open = null;
    } else if (name === "message_delta") {
      if (open !== null) throw new Error("a block is still open");
      if (unread && event.delta["stop_reason"] !== "max_tokens") throw new Error("arguments that are no JSON");
      Object.assign(message, event.delta, { usage: { ...message.usage, ...event.usage } });
    } else if (name === "message_stop") stopped = true;
    else throw new Error(`an unknown event: ${name}`);
  }
  return stopped ? message : null;
}

function addTo(
  open: { block: ReadBlock; json: string },
  { type, text, thinking, signature, partial_json }: Json,
): void {
  const { block } = open;
  const fits = {
    text_delta: "text",
    thinking_delta: "thinking",
    signature_delta: "thinking",
    input_json_delta: "tool_use",
  };
  if (fits[type as keyof typeof fits] !== block.type) throw new Error(`${String(type)} in a block of ${block.type}`);
  if (type === "text_delta") block["text"] = String(block["text"]) + String(text);
  else if (type === "thinking_delta") block["thinking"] = String(block["thinking"]) + String(thinking);
  else if (type === "signature_delta") block["signature"] = signature;
  else open.json += String(partial_json);
}
