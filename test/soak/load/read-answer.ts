// The text in an answer, of each form, and the error that it ends with. Pure.
import { parseJson } from "@farmgate/shared";
import type { Form } from "./asks.ts";

export interface ReadAnswer {
  text: string;
  /** The answer says itself that it is complete. */
  ended: boolean;
  /** What the caller was told instead of the rest; null: nothing. */
  error: string | null;
}

type Json = Record<string, never> | undefined;

/** `body`: all that came. What is not whole at its end is not read. */
export function readAnswer(form: Form, body: string): ReadAnswer {
  if (form === "chat-whole" || form === "embeddings") return readWhole(form, body);
  const pieces: string[] = [];
  let ended = false;
  let error: string | null = null;
  for (const event of form === "ollama-stream" ? body.split("\n").slice(0, -1) : eventsOf(body)) {
    if (event === "[DONE]") {
      ended = true;
      continue;
    }
    const value = parseJson(event) as Json;
    error ??= errorIn(value);
    if (form === "ollama-stream") {
      pieces.push(value?.["message"]?.["content"] ?? "");
      ended ||= value?.["done"] === true;
    } else if (form === "anthropic-stream") {
      pieces.push(value?.["delta"]?.["text"] ?? "");
      ended ||= value?.["type"] === "message_stop";
    } else pieces.push(value?.["choices"]?.[0]?.["delta"]?.["content"] ?? "");
  }
  return { text: pieces.join(""), ended, error };
}

/** The code of an error body of any API, or a word for it; null: it is none. */
export function errorIn(value: unknown): string | null {
  const error = (value as Json)?.["error"] as unknown;
  if (error === undefined || error === null) return null;
  if (typeof error === "string") return "told in words";
  const { code, type } = error as { code?: unknown; type?: unknown };
  return typeof code === "string" ? code : String(type);
}

function readWhole(form: Form, body: string): ReadAnswer {
  const value = parseJson(body) as Json;
  const error = errorIn(value);
  if (form === "embeddings") {
    const vector = value?.["data"]?.[0]?.["embedding"];
    return { text: vector === undefined ? "" : JSON.stringify(vector), ended: vector !== undefined, error };
  }
  const text = value?.["choices"]?.[0]?.["message"]?.["content"] as string | undefined;
  return { text: text ?? "", ended: text !== undefined, error };
}

/** The data of every event that has its end; comments are none. */
function eventsOf(body: string): string[] {
  return body
    .split("\n\n")
    .slice(0, -1)
    .flatMap((event) => {
      const lines = event.split("\n").filter((line) => line.startsWith("data:"));
      return lines.length === 0 ? [] : [lines.map((line) => line.slice(5).trimStart()).join("\n")];
    });
}
