import type { Api } from "@farmgate/shared";
import { readMessage } from "./anthropic/read-message.ts";
import { dataOf } from "../support/translate.ts";
import { faultsOf, type StreamEvent } from "./responses/faults.ts";

type Json = Record<string, unknown>;

/** What is not legal in a stream that a caller of this API is sent. It may break off. Empty: nothing. */
export function faultsIn(api: Api, text: string): string[] {
  if (api === "messages") return caught(() => void readMessage(text));
  if (api === "responses") return faultsOf(dataOf(text) as unknown as StreamEvent[]);
  if (api === "chat") return faultsOfChunks(text, chunkFault);
  if (api === "completions") return faultsOfChunks(text, completionFault);
  return faultsOfLines(text);
}

function caught(read: () => void): string[] {
  try {
    read();
    return [];
  } catch (error) {
    return [String(error)];
  }
}

function faultsOfChunks(text: string, faultOf: (choice: Json) => boolean): string[] {
  const chunks = dataOf(text);
  return chunks.flatMap((chunk, i) => {
    if (chunk["done"] === true) return i === chunks.length - 1 ? [] : ["more behind [DONE]"];
    const isRight = typeof chunk["model"] === "string" && (chunk["choices"] as Json[]).every((one) => !faultOf(one));
    return isRight ? [] : [JSON.stringify(chunk)];
  });
}

function chunkFault(choice: Json): boolean {
  const { role, content, reasoning_content: thought, tool_calls: calls } = choice["delta"] as Json;
  const texts = [role, content, thought, choice["finish_reason"]];
  const isCall = (call: Json) => {
    const { name, arguments: args } = call["function"] as Json;
    return typeof call["index"] === "number" && isText(call["id"]) && isText(name) && isText(args) && name !== "";
  };
  return !texts.every(isTextOrNone) || !((calls as Json[] | undefined) ?? []).every(isCall);
}

function completionFault(choice: Json): boolean {
  return !isText(choice["text"]) || !isTextOrNone(choice["finish_reason"]);
}

/** Ollama's: what it counts are whole numbers, which Go's clients insist on, and one line is the last. */
function faultsOfLines(text: string): string[] {
  const lines = text.split("\n").slice(0, -1);
  return lines.flatMap((told, i) => {
    const line = JSON.parse(told) as Json;
    const { message, response, done, done_reason: reason } = line;
    const { content, thinking, tool_calls: calls } = (message as Json | undefined) ?? { content: response };
    const counts = Object.entries(line).filter(([name]) => /_count$|_duration$/.test(name));
    const isCall = (call: Json) => {
      const { name, arguments: args } = call["function"] as Json;
      return isText(name) && name !== "" && typeof args === "object" && args !== null && !Array.isArray(args);
    };
    const isRight =
      isText(content) &&
      [thinking, reason, line["thinking"]].every(isTextOrNone) &&
      ((calls as Json[] | undefined) ?? []).every(isCall) &&
      counts.every(([, count]) => Number.isSafeInteger(count)) &&
      (done === false || (done === true && i === lines.length - 1));
    return isRight ? [] : [told];
  });
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function isTextOrNone(value: unknown): boolean {
  return value === undefined || value === null || isText(value);
}
