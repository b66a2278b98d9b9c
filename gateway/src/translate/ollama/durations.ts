import type { AnswerTime } from "../translation.ts";
import type { Figures } from "../chat/figures.ts";

const NS_PER_MS = 1_000_000;

/**
 * Counts and times of an answer, in nanoseconds. (1) Where the engine measured, its own times; what is left of the whole
 * went before: a load, a queue, the network. (2) Else the prompt took until the first token came, which `firstMs` says,
 * and the answer the rest. (3) Of an answer that came whole nothing but that is known.
 */
export function durations(
  { promptTokens, answerTokens, promptMs, answerMs }: Figures,
  firstMs: number | null,
  at: AnswerTime,
) {
  const total = at.sinceSentMs;
  const measured = promptMs !== null && answerMs !== null;
  const before = measured ? Math.max(0, total - promptMs - answerMs) : 0; // (1)
  const prompt = measured ? promptMs : (firstMs ?? 0); // (2) (3)
  return {
    total_duration: nanoseconds(total),
    load_duration: nanoseconds(before),
    prompt_eval_count: promptTokens ?? undefined,
    prompt_eval_duration: nanoseconds(prompt),
    eval_count: answerTokens ?? undefined,
    eval_duration: nanoseconds(measured ? answerMs : total - prompt),
  };
}

export function nanoseconds(ms: number): number {
  return Math.max(0, Math.round(ms * NS_PER_MS));
}
