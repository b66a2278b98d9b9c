import type { AnswerPlan } from "./answer-plan.ts";
import type { AnswerTimings } from "./answer-shape.ts";

/** Told in every answer in place of a build. */
export const FINGERPRINT = "simulated";

export function usageOf(plan: AnswerPlan, timings: AnswerTimings): object {
  return {
    completion_tokens: plan.pieces.length,
    prompt_tokens: plan.promptTokens,
    total_tokens: plan.promptTokens + plan.pieces.length,
    prompt_tokens_details: { cached_tokens: timings.cachedTokens },
  };
}

/** llama-server's `timings`. */
export function timingsOf(plan: AnswerPlan, timings: AnswerTimings): object {
  const promptTokens = plan.promptTokens - timings.cachedTokens;
  const predicted = plan.pieces.length;
  return {
    cache_n: timings.cachedTokens,
    prompt_n: promptTokens,
    prompt_ms: timings.promptMs,
    prompt_per_token_ms: ratio(timings.promptMs, promptTokens),
    prompt_per_second: ratio(promptTokens * 1_000, timings.promptMs),
    predicted_n: predicted,
    predicted_ms: timings.predictedMs,
    predicted_per_token_ms: ratio(timings.predictedMs, predicted),
    predicted_per_second: ratio(predicted * 1_000, timings.predictedMs),
  };
}

/** Nothing took no time: 0, for JSON knows no infinity. */
function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
