/**
 * What a pair (worker, model) needs to the first byte of an answer: a constant and a time for each token of the prompt.
 * An immutable value.
 */
export interface PrefillModel {
  /** Milliseconds whatever the length. */
  readonly overheadMs: number;
  /** Milliseconds for each token of the prompt. */
  readonly msPerToken: number;
  /** Decayed sums over what was seen, the prior among them: weight, x, y, xx, xy (x in tokens, y in milliseconds). */
  readonly sums: readonly [w: number, x: number, y: number, xx: number, xy: number];
}

/**
 * Before anything was seen: half a second for 1,024 tokens, a middling GPU, after a constant of 50 ms. It weighs like a
 * quarter of an answer to no token and one to 1,024, so that a few real ones outweigh it.
 */
const PRIOR = { overheadMs: 50, msPerToken: 500 / 1_024 };
const PRIOR_TOKENS = [0, 1_024];
const PRIOR_WEIGHT = 1 / 4;

/** Each answer makes the older ones count so much less: what counts are the last fifty or so. */
const DECAY = 0.98;

/** An answer counts as at most so many times, and at least such a part of, what was predicted: one hiccup is no rate. */
const MOST = 4;
const LEAST = 1 / 4;
/** Milliseconds by which a time may always differ. */
const SLACK_MS = 50;

export const UNSEEN_PREFILL: PrefillModel = fitted(
  PRIOR_TOKENS.reduce<PrefillModel["sums"]>(
    (sums, tokens) => added(sums, PRIOR_WEIGHT, tokens, PRIOR.overheadMs + PRIOR.msPerToken * tokens),
    [0, 0, 0, 0, 0],
  ),
);

/** Milliseconds to the first byte of an answer to a prompt of so many tokens, from when the pair begins it. */
export function prefillMs({ overheadMs, msPerToken }: PrefillModel, promptTokens: number): number {
  return overheadMs + msPerToken * promptTokens;
}

/**
 * The model after one more answer that had its first byte `ms` after the pair had begun it: least squares over the
 * decayed past, with outliers drawn in. Neither figure gets below 0: a line that would is laid through the mean.
 */
export function learnPrefill(model: PrefillModel, promptTokens: number, ms: number): PrefillModel {
  if (!(promptTokens >= 0) || !(ms >= 0)) return model;
  const expected = prefillMs(model, promptTokens);
  const drawnIn = Math.min(MOST * expected + SLACK_MS, Math.max(LEAST * expected - SLACK_MS, ms));
  const [w, x, y, xx, xy] = model.sums;
  const older = [w * DECAY, x * DECAY, y * DECAY, xx * DECAY, xy * DECAY] as const;
  return fitted(added(older, 1, promptTokens, drawnIn));
}

function added(
  [w, x, y, xx, xy]: PrefillModel["sums"],
  weight: number,
  tokens: number,
  ms: number,
): PrefillModel["sums"] {
  const [wx, wy] = [weight * tokens, weight * ms];
  return [w + weight, x + wx, y + wy, xx + wx * tokens, xy + wx * ms];
}

function fitted(sums: PrefillModel["sums"]): PrefillModel {
  const [w, x, y, xx, xy] = sums;
  const spread = xx - (x * x) / w;
  const mean = y / w;
  // All of one length say nothing of the slope: it stays what one line through the origin has.
  const slope = spread > 1e-9 * xx ? (xy - (x * y) / w) / spread : 0;
  const intercept = mean - (slope * x) / w;
  if (slope >= 0 && intercept >= 0) return { overheadMs: intercept, msPerToken: slope, sums };
  if (slope < 0) return { overheadMs: mean, msPerToken: 0, sums };
  return { overheadMs: 0, msPerToken: xx > 0 ? xy / xx : 0, sums };
}
