import type { ChatPiece } from "../chat/chat-piece.ts";

/** Why a message ended. null: it has not yet. */
export interface MessageStop {
  stop_reason: string | null;
  /** The one of the request's stop sequences that ended it, where the engine tells. */
  stop_sequence: string | null;
}

/**
 * Why a complete answer ended, by the piece of it that tells (null: none does). `called`: it calls a tool.
 * (1) It ran out of tokens. (2) It was withheld. (3) It calls tools, which some engines say and some call a plain stop.
 * (4) A stop sequence was met. (5) It had said what it had to say, whatever the engine calls that, or if it calls it
 * nothing: Anthropic's callers are promised a reason, and go by it.
 */
export function stopOf(
  told: Pick<ChatPiece, "finish" | "stoppedBy"> | null,
  called: boolean,
  stops: readonly string[],
): MessageStop {
  const { finish, stoppedBy } = told ?? { finish: null, stoppedBy: null };
  if (finish === "length") return stop("max_tokens"); // (1)
  if (finish === "content_filter") return stop("refusal"); // (2)
  if (called) return stop("tool_use"); // (3)
  if (stoppedBy !== null && stops.includes(stoppedBy)) return stop("stop_sequence", stoppedBy); // (4)
  return stop("end_turn"); // (5)
}

function stop(reason: string, sequence: string | null = null): MessageStop {
  return { stop_reason: reason, stop_sequence: sequence };
}
