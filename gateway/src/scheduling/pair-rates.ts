import { movingMean } from "@farmgate/shared";
import { LRUCache } from "lru-cache";
import { tokensOf } from "../tokens-of-bytes.ts";
import { learnPrefill, type PrefillModel, prefillMs, UNSEEN_PREFILL } from "./predicted-prefill.ts";

/** Pairs that are remembered. One that is forgotten is learned anew. */
const PAIRS = 2_000;

/** How much the newest answer counts. */
const WEIGHT = 0.2;

/** Milliseconds from the first byte to the last, before any answer was seen. */
const UNSEEN_REST_MS = 2_000;

/** Nobody is refused by figures of fewer answers than these, */
const ENOUGH = 3;
/** or of none in so many milliseconds: who refuses all would never learn that a machine has become faster. */
const FRESH_MS = 600_000;

/** What the answers of a worker with a model teach. An immutable value. */
export interface PairRate {
  prefill: PrefillModel;
  /** Milliseconds from the first byte of an answer to its end. */
  restMs: number;
  answers: number;
  /** When the last of them ended. */
  seenAt: number;
}

export const UNSEEN_RATE: PairRate = {
  prefill: UNSEEN_PREFILL,
  restMs: UNSEEN_REST_MS,
  answers: 0,
  seenAt: Number.NEGATIVE_INFINITY,
};

/** A whole good answer of a model that was loaded, from when its turn came; milliseconds. */
export interface RatedAnswer {
  /** Of the request's body: what a prediction knows, too. */
  bytes: number;
  /** Else its first byte comes when all of it is written. */
  streamed: boolean;
  firstByteMs: number;
  lastByteMs: number;
}

/** How fast workers are with their models, as far as their answers told. */
export class PairRates {
  readonly #rates = new LRUCache<string, PairRate>({ max: PAIRS });

  /** `key`: nameKey of the worker's own name for the model. */
  of(worker: string, key: string): PairRate {
    return this.#rates.peek(`${worker}\n${key}`) ?? UNSEEN_RATE;
  }

  answered(worker: string, key: string, answer: RatedAnswer, now: number): void {
    this.#rates.set(`${worker}\n${key}`, learnRate(this.of(worker, key), answer, now));
  }
}

/** Whether a request may be refused by these figures. */
export function isSure({ answers, seenAt }: PairRate, now: number): boolean {
  return answers >= ENOUGH && now - seenAt <= FRESH_MS;
}

function learnRate(rate: PairRate, { bytes, streamed, firstByteMs, lastByteMs }: RatedAnswer, now: number): PairRate {
  const tokens = tokensOf(bytes);
  const prefill = streamed ? learnPrefill(rate.prefill, tokens, firstByteMs) : rate.prefill;
  const restMs = Math.max(0, lastByteMs - (streamed ? firstByteMs : prefillMs(prefill, tokens)));
  const before = rate.answers === 0 ? null : rate.restMs;
  return { prefill, restMs: movingMean(before, restMs, WEIGHT), answers: rate.answers + 1, seenAt: now };
}
