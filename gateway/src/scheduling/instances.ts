import type { Machine } from "./moore-hodgson.ts";
import { isSure, type PairRate } from "./pair-rates.ts";
import { prefillMs } from "./predicted-prefill.ts";

/** A request that a worker has. Times in milliseconds on the clock of `now`. */
export interface UnderWay {
  sentAt: number;
  /** null: no byte has come. */
  firstByteAt: number | null;
  /** Of its prompt. */
  tokens: number;
}

/** A worker that has the model of a queue loaded, or is loading it. */
export interface PairNow {
  worker: string;
  /** Requests that it serves at once; null: not known, so that it is never full. */
  slots: number | null;
  /** What stands in these slots, or before them, in the order in which it was sent. */
  underWay: readonly UnderWay[];
  /** Milliseconds until the model is loaded; 0: it is, or nobody knows. */
  loadMs: number;
  rate: PairRate;
}

/** One slot of a worker. */
export interface Instance extends Machine {
  worker: string;
  /** Its figures are good enough to refuse a request by them. */
  sure: boolean;
}

/** A worker that is predicted to be free within this time, in milliseconds, gets its next request now. */
export const AHEAD_MS = 250;

/**
 * Milliseconds in which a slot is not free at least whose answer takes longer than predicted, or before which one stands
 * already: no second one is sent ahead on figures that were wrong.
 */
const NOT_YET_MS = AHEAD_MS + 50;

/** As a share of the usual time: the longer answers take, the longer one that is overdue takes yet. */
const OVERDUE = 1 / 4;

/**
 * The slots of all workers, each with when it is predicted to be free. A request holds its slot to the end of its answer,
 * so that a job takes its prefill and `restMs`. A slot of whose speed too little is known is taken to need no time for a
 * prompt: who was never asked can never show that it is fast.
 */
export function instancesOf(pairs: readonly PairNow[], restMs: number, now: number): Instance[] {
  return pairs.flatMap((pair) => {
    const sure = isSure(pair.rate, now);
    const { overheadMs, msPerToken } = pair.rate.prefill;
    const overhead = pair.loadMs + restMs + (sure ? overheadMs : 0);
    const slowness = sure ? msPerToken : 0;
    return freeAt(pair, now).map((availableAt) => ({ worker: pair.worker, sure, availableAt, overhead, slowness }));
  });
}

/** What an answer takes after its first byte, on average over the workers. */
export function meanRestMs(pairs: readonly PairNow[]): number {
  return pairs.length === 0 ? 0 : pairs.reduce((sum, { rate }) => sum + rate.restMs, 0) / pairs.length;
}

/** Of each slot; what stands before the slots takes the one that is free first. */
function freeAt({ slots, underWay, loadMs, rate }: PairNow, now: number): number[] {
  if (slots === null) return [now];
  const free = Array.from({ length: slots }, () => now);
  const notYet = now + Math.max(NOT_YET_MS, OVERDUE * rate.restMs);
  for (const [at, one] of underWay.entries()) {
    const serviceMs = prefillMs(rate.prefill, one.tokens) + rate.restMs;
    if (at < slots) {
      const endsAt = endOf(one, serviceMs, rate.restMs) + loadMs;
      free[at] = endsAt <= now ? notYet : endsAt;
    } else {
      const first = free.indexOf(Math.min(...free));
      free[first] = Math.max((free[first] ?? now) + serviceMs, notYet);
    }
  }
  return free;
}

function endOf({ sentAt, firstByteAt }: UnderWay, serviceMs: number, restMs: number): number {
  return firstByteAt === null ? sentAt + serviceMs : firstByteAt + restMs;
}
