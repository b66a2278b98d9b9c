import { parseJson } from "@farmgate/shared";
import { listOf, numberOf, objectOf, textOf } from "../json-fields.ts";
import { type JsonObject, TranslationError } from "../translation.ts";

/** A tool call, or a piece of one. */
export interface CallPiece {
  /** Which of the calls; null: the worker does not number them. */
  index: number | null;
  /** Empty where it was told before. */
  id: string;
  name: string;
  arguments: string;
}

/** What a chat answer, or one chunk of a stream, says. Empty fields: nothing. */
export interface ChatPiece {
  model: string;
  reasoning: string;
  text: string;
  calls: readonly CallPiece[];
  /** `finish_reason`. */
  finish: string | null;
  usage: JsonObject | null;
}

/** One chunk. Throws `TranslationError`, also for an error that the worker tells in its stream. */
export function readChatChunk(data: string): ChatPiece {
  const chunk = parseJson(data);
  if (chunk === undefined) throw new TranslationError("a piece of its stream is no JSON");
  return readPiece(objectOf(chunk), "delta");
}

/** A whole answer. Throws `TranslationError`. */
export function readChatAnswer(answer: unknown): ChatPiece {
  const whole = objectOf(answer);
  if (listOf(whole["choices"]).length === 0 && whole["error"] === undefined) {
    throw new TranslationError("an answer without choices");
  }
  return readPiece(whole, "message");
}

function readPiece(whole: JsonObject, part: "delta" | "message"): ChatPiece {
  if (whole["error"] !== undefined && whole["error"] !== null)
    throw new TranslationError(errorText(whole["error"]).slice(0, 300));
  const choice = objectOf(listOf(whole["choices"])[0]);
  const said = objectOf(choice[part]);
  return {
    model: textOf(whole["model"]),
    // llama-server and vLLM name it in these two ways.
    reasoning: textOf(said["reasoning_content"]) || textOf(said["reasoning"]),
    text: textOf(said["content"]) + textOf(said["refusal"]),
    calls: listOf(said["tool_calls"]).map(readCall),
    finish: typeof choice["finish_reason"] === "string" ? choice["finish_reason"] : null,
    usage: typeof whole["usage"] === "object" && whole["usage"] !== null ? objectOf(whole["usage"]) : null,
  };
}

function readCall(call: unknown): CallPiece {
  const { index, id, function: told } = objectOf(call);
  const { name, arguments: given } = objectOf(told);
  // Some servers send arguments as an object.
  const text = typeof given === "object" && given !== null ? JSON.stringify(given) : textOf(given);
  return { index: numberOf(index), id: textOf(id), name: textOf(name), arguments: text };
}

function errorText(error: unknown): string {
  return textOf(error) || textOf(objectOf(error)["message"]) || "an error without a message";
}
