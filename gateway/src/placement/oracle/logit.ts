import type { Prediction } from "./types.ts";

/** Shares are told apart between this and 1 - this: a window of a few hundred requests tells no more. */
const EDGE = 0.002;

/** log(p / (1 - p)), of a share that is kept off 0 and 1. */
export function logit(share: number): number {
  const inside = Math.min(Math.max(share, EDGE), 1 - EDGE);
  return Math.log(inside / (1 - inside));
}

/** Gauss-Hermite for the standard normal, 7 points. */
const NODES = [0, 1.154405394739968, 2.366759410734541, 3.750439717725742];
const WEIGHTS = [0.457142857142857, 0.240123178605013, 0.030757123967586, 0.000548268855972];

/** Mean and variance of the share whose logit is normal. */
export function shareOf(logits: Prediction): Prediction {
  const deviation = Math.sqrt(logits.variance);
  let mean = 0;
  let square = 0;
  for (let at = 0; at < NODES.length; at += 1) {
    const off = (NODES[at] as number) * deviation;
    const low = 1 / (1 + Math.exp(off - logits.mean));
    const high = 1 / (1 + Math.exp(-off - logits.mean));
    const weight = (WEIGHTS[at] as number) / (at === 0 ? 2 : 1);
    mean += weight * (low + high);
    square += weight * (low * low + high * high);
  }
  return { mean: Math.min(mean, 1), variance: Math.max(square - mean * mean, 0) };
}
