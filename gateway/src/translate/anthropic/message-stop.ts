import { type JsonObject, TranslationError } from "../translation.ts";

/** Why a message ended. null: the worker told no reason, and none is invented. */
export interface MessageStop {
  stop_reason: string | null;
  /** The one of the request's stop sequences that ended it, where the engine tells. */
  stop_sequence: string | null;
}

/**
 * Why an answer ended, by its choice. `called`: it calls a tool.
 * (1) No reason is told. (2) The engine failed. (3) It ran out of tokens. (4) It was withheld. (5) It calls tools, which
 * some engines say and some call a plain stop. (6) A stop sequence was met: vLLM and SGLang name it, each in its own
 * way. (7) It had said what it had to say, whatever the engine calls that.
 */
export function stopOf(choice: JsonObject, called: boolean, stops: readonly string[]): MessageStop {
  const { finish_reason: reason, stop_reason: met, matched_stop: matched } = choice;
  if (typeof reason !== "string" || reason === "") return stop(null); // (1)
  if (reason === "error" || reason === "abort") throw new TranslationError(`it ended its answer by "${reason}"`); // (2)
  if (reason === "length" || reason === "max_tokens") return stop("max_tokens"); // (3)
  if (reason === "content_filter") return stop("refusal"); // (4)
  if (called) return stop("tool_use"); // (5)
  const sequence = [met, matched].find((text) => typeof text === "string" && stops.includes(text));
  return typeof sequence === "string" ? stop("stop_sequence", sequence) : stop("end_turn"); // (6) (7)
}

function stop(reason: string | null, sequence: string | null = null): MessageStop {
  return { stop_reason: reason, stop_sequence: sequence };
}
