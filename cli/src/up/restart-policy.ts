const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;
const MOST_RESTARTS = 5;
/** A program that has run this long was fine; what ends it then is a new story. */
const STEADY_MS = 60_000;

export type RestartDecision = { restart: true; delayMs: number; restarts: number } | { restart: false; reason: string };

/**
 * What to do about a program that ended by itself: start it again after a pause that doubles each time, until it
 * has been tried often enough. A program that refuses its configuration (exit code 2) would do so again.
 *
 * @param restarts how often it was started again in a row; `ranMs` how long it ran this time, in milliseconds.
 */
export function afterExit(exitCode: number | null, restarts: number, ranMs: number): RestartDecision {
  if (exitCode === 2) return { restart: false, reason: "it refuses its configuration" };
  const before = ranMs >= STEADY_MS ? 0 : restarts;
  if (before >= MOST_RESTARTS) return { restart: false, reason: `it ended ${before + 1} times in a row` };
  return { restart: true, delayMs: Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** before), restarts: before + 1 };
}
