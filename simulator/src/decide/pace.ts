/** When the tokens of one answer fall due. All times in milliseconds on the clock's scale. */
export interface Pace {
  startedAt: number;
  /** Reading the prompt. */
  prefillMs: number;
  /** One token; 0: all at once. */
  tokenMs: number;
}

/** A pace from speeds in tokens per second (0: at once), everything `slow` times as slow. */
export function paceOf(
  startedAt: number,
  promptTokens: number,
  speeds: { promptTokensPerSecond: number; tokensPerSecond: number },
  slow: number,
): Pace {
  return {
    startedAt,
    prefillMs: msFor(promptTokens, speeds.promptTokensPerSecond) * slow,
    tokenMs: msFor(1, speeds.tokensPerSecond) * slow,
  };
}

/** How many of `total` tokens are due at `now`. */
export function tokensDue(pace: Pace, total: number, now: number): number {
  const elapsed = now - pace.startedAt - pace.prefillMs;
  if (elapsed < 0) return 0;
  if (pace.tokenMs === 0) return total;
  // A hair of tolerance, so that a timer that fires exactly on time is not one token short.
  return Math.min(total, Math.floor(elapsed / pace.tokenMs + 1e-6));
}

/** When the first `count` tokens are due. */
export function dueAt(pace: Pace, count: number): number {
  return pace.startedAt + pace.prefillMs + count * pace.tokenMs;
}

function msFor(tokens: number, perSecond: number): number {
  return perSecond === 0 ? 0 : (tokens / perSecond) * 1_000;
}
