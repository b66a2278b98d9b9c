import { argumentsOf } from "../chat/call-args.ts";
import type { CallPiece } from "../chat/chat-piece.ts";
import { TranslationError } from "../translation.ts";

/**
 * All calls of an answer as Ollama has them. `cut`: the answer ended for its length, and a call whose arguments did not
 * get to their end is none. Throws `TranslationError` for one that is not a call.
 */
export function wholeCalls(calls: readonly CallPiece[], cut: boolean): object[] {
  const whole: object[] = [];
  for (const { id, name, args } of calls) {
    const given = argumentsOf(args);
    if (given !== null && name !== null) {
      const called = { index: whole.length, name, arguments: given };
      whole.push(id === null ? { function: called } : { id, function: called });
    } else if (!cut) throw new TranslationError("a tool call whose arguments are no JSON object");
  }
  return whole;
}
