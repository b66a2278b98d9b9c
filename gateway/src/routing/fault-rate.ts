/** How one request to a pair of worker and model ended: by the worker's fault, or with a whole good answer. */
export interface Outcome {
  /** Milliseconds of `now`. */
  at: number;
  failed: boolean;
}

/** So many of the last answers failed that the pair is put aside. */
export interface Often {
  failed: number;
  of: number;
}

/**
 * Half of at least ten answers of the last minute. Half is what others take too (Hystrix, resilience4j); they ask for 20
 * to 100 answers first, but a pair of a farm of a few machines has few a minute. Ten are enough: where one answer in
 * ten fails, five of ten do so once in six hundred times.
 */
const WINDOW_MS = 60_000;
const LEAST = 10;
const SHARE = 0.5;
/** Of a busy pair only the last ones count, so that it is judged by how it is now, and takes little memory. */
const MOST = 20;

/** The outcomes that count after one more; empty where none of them is a failure: there is nothing to remember. */
export function withOutcome(last: readonly Outcome[], next: Outcome): readonly Outcome[] {
  const kept = last.filter(({ at }) => at > next.at - WINDOW_MS && at <= next.at).slice(1 - MOST);
  return next.failed || kept.some(({ failed }) => failed) ? [...kept, next] : [];
}

/** Whether too many of the outcomes that count are failures; null: no. */
export function failsOften(outcomes: readonly Outcome[]): Often | null {
  const failed = outcomes.filter((one) => one.failed).length;
  const of = outcomes.length;
  return of >= LEAST && failed >= SHARE * of ? { failed, of } : null;
}
