import type { ModelSpeed } from "./farm.ts";
import type { AskedTokens } from "./worker-run.ts";

/** Milliseconds until the first token of an answer, and until its last one; nothing written: both are the prompt's. */
export function answerTimes(speed: ModelSpeed, { prompt, output }: AskedTokens): { firstMs: number; ms: number } {
  const readMs = msFor(prompt, speed.promptTokensPerSecond);
  const tokenMs = msFor(1, speed.tokensPerSecond);
  return { firstMs: readMs + (output > 0 ? tokenMs : 0), ms: readMs + output * tokenMs };
}

function msFor(tokens: number, perSecond: number): number {
  return perSecond === 0 ? 0 : (tokens * 1_000) / perSecond;
}
