import type { Instance, PairNow } from "../../src/scheduling/instances.ts";
import { type PairRate, UNSEEN_RATE } from "../../src/scheduling/pair-rates.ts";
import type { Waiting } from "../../src/scheduling/queue-round.ts";

/** A stream of 100 tokens that came at 0, and must begin within so many milliseconds; null: whenever. */
export function waiting(withinMs: number | null, more: Partial<Waiting> & { relax?: boolean } = {}): Waiting {
  const { relax: mayRelax = false, ...rest } = more;
  const deadline = withinMs === null ? null : { arrivedAt: 0, askedMs: withinMs, mayRelax, relaxed: 0 };
  return { tokens: 100, streamed: true, deadline, enteredAt: 0, ...rest };
}

/** A slot that takes a millisecond for a token. */
export const instance = (more: Partial<Instance> = {}): Instance => ({
  worker: "a",
  sure: true,
  availableAt: 0,
  overhead: 0,
  slowness: 1,
  ...more,
});

/** A millisecond for a token, and 400 for the rest of an answer. */
export const RATE: PairRate = {
  ...UNSEEN_RATE,
  prefill: { ...UNSEEN_RATE.prefill, overheadMs: 0, msPerToken: 1 },
  restMs: 400,
  answers: 10,
  seenAt: 0,
};

export const pair = (more: Partial<PairNow> = {}): PairNow => ({
  worker: "a",
  slots: 1,
  underWay: [],
  loadMs: 0,
  rate: RATE,
  ...more,
});
