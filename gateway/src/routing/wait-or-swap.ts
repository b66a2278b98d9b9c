/** Places that serve requests side by side, and how many requests stand before one that came now. */
export interface Line {
  /** At least 1. */
  places: number;
  /** Requests that are served or wait there already. */
  ahead: number;
  /** How long one answer takes, in milliseconds; null: not known. */
  serviceMs: number | null;
}

/** What is known of waiting for a model at a worker that has it, or is about to. Times in milliseconds. */
export interface WaitFigures {
  /** The worker's own forecast for a request that came when its catalogue was asked for; null: it makes none. */
  forecastMs: number | null;
  /** Requests for the model that were sent there since then, less those that ended. */
  sentSince: number;
  /** The slots; null: their number is not known. */
  slots: Line | null;
  /** The cap of requests sent there at once, for a worker that has reached it; null: below it. */
  cap: Line | null;
}

/** What is known of loading a model at a worker that is below its cap. Times in milliseconds. */
export interface SwapFigures {
  forecastMs: number | null;
  sentSince: number;
  slots: Line;
  loadMs: number | null;
  /** Until what runs there and must end before the load has ended, as far as a forecast does not hold it. */
  othersMs: number | null;
}

/** A worker with its predicted time in milliseconds; null: not known. Of equal times the lower turn goes first. */
export interface Priced {
  ms: number | null;
  turn: number;
}

export interface Verdict<P extends Priced> {
  decision: "wait" | "swap";
  /** The best of those where the request would wait. */
  wait: P & { ms: number };
  /** The best of those that would load. */
  swap: P & { ms: number };
}

/**
 * A load costs more than this request's time: memory bandwidth, somebody else's warm model, and figures that are means.
 * So it must win by this share of the wait,
 */
const MARGIN = 0.2;
/** and by this time in milliseconds, below which both figures are noise. Without either, small changes would flap. */
const MIN_GAIN_MS = 1_000;

/**
 * How long a request that came now would wait, in milliseconds; null: not known.
 *
 * With n requests before it and c places it waits for n - c + 1 of them to end, each c-th of a service time: the mean
 * wait in M/M/c of an arrival that finds n >= c (Gross and Harris, "Fundamentals of Queueing Theory", section on
 * M/M/c). To send where that is least is shortest expected delay routing (Whitt 1986).
 *
 * 1. A worker that forecasts a wait knows its queue best; what was sent there since is added, or taken off.
 * 2. Else, or where it forecast a free slot, its slots are counted.
 * 3. At its cap the gateway is where it waits, and the longer of the two waits counts.
 */
export function predictWait({ forecastMs, sentSince, slots, cap }: WaitFigures): number | null {
  if (slots === null && cap === null) return null;
  let atWorker: number | null = 0;
  // 1
  if (forecastMs !== null && forecastMs > 0) atWorker = plus(forecastMs, work(sentSince, slots));
  // 2
  else if (slots !== null) atWorker = behind(slots);
  // 3
  const atGateway = cap === null ? 0 : behind(cap);
  return atWorker === null || atGateway === null ? null : Math.max(0, atWorker, atGateway);
}

/**
 * How long a request that came now would wait where the model must be loaded first, in milliseconds; null: not known.
 * What a forecast does not hold is added in full.
 */
export function predictSwap({ forecastMs, sentSince, slots, loadMs, othersMs }: SwapFigures): number | null {
  if (loadMs === null || othersMs === null) return null;
  const rest = forecastMs === null ? behind(slots) : work(Math.max(0, sentSince), slots);
  return plus(Math.max(loadMs, forecastMs ?? 0) + othersMs, rest);
}

/**
 * Whether to wait at the best of those that lead, or to have the best of the others load the model. null: there is
 * nothing to weigh, since a wait is not known (that worker may be free next) or no load is.
 */
export function weigh<P extends Priced>(leading: readonly P[], others: readonly P[]): Verdict<P> | null {
  if (leading.some(({ ms }) => ms === null)) return null;
  const wait = cheapest(leading);
  const swap = cheapest(others);
  if (wait === null || swap === null) return null;
  const gain = wait.ms - swap.ms;
  const swaps = gain >= MIN_GAIN_MS && gain >= MARGIN * wait.ms;
  return { decision: swaps ? "swap" : "wait", wait, swap };
}

function cheapest<P extends Priced>(all: readonly P[]): (P & { ms: number }) | null {
  let best: (P & { ms: number }) | null = null;
  for (const one of all) {
    if (!isKnown(one)) continue;
    if (best === null || one.ms < best.ms || (one.ms === best.ms && one.turn < best.turn)) best = one;
  }
  return best;
}

function isKnown<P extends Priced>(one: P): one is P & { ms: number } {
  return one.ms !== null;
}

function behind(line: Line): number | null {
  return line.ahead < line.places ? 0 : work(line.ahead - line.places + 1, line);
}

/** How long so many requests keep the places busy. */
function work(requests: number, line: Line | null): number | null {
  if (requests === 0) return 0;
  return line === null || line.serviceMs === null ? null : (requests * line.serviceMs) / line.places;
}

function plus(a: number, b: number | null): number | null {
  return b === null ? null : a + b;
}
