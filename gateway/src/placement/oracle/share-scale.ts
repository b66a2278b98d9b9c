import type { Prediction } from "./types.ts";

/**
 * The scale that shares are learned on: the angle whose squared sine is the share. Counted among n requests, a share
 * scatters by 1 / (2 root n) there, wherever it is, and 0 and 1 have a place: on a logit they have none, and the windows
 * in which all were on time drown the others.
 */
export function angleOf(share: number): number {
  return Math.asin(Math.sqrt(Math.min(Math.max(share, 0), 1)));
}

/** Gauss-Hermite for the standard normal, 7 points. */
const NODES = [0, 1.154405394739968, 2.366759410734541, 3.750439717725742];
const WEIGHTS = [0.457142857142857, 0.240123178605013, 0.030757123967586, 0.000548268855972];

/** Mean and variance of the share whose angle is normal; angles beyond a share's are its ends. */
export function shareOf(angle: Prediction): Prediction {
  const deviation = Math.sqrt(angle.variance);
  let mean = 0;
  let square = 0;
  for (let at = 0; at < NODES.length; at += 1) {
    const off = (NODES[at] as number) * deviation;
    const low = shareAt(angle.mean - off);
    const high = shareAt(angle.mean + off);
    const weight = (WEIGHTS[at] as number) / (at === 0 ? 2 : 1);
    mean += weight * (low + high);
    square += weight * (low * low + high * high);
  }
  return { mean: Math.min(mean, 1), variance: Math.max(square - mean * mean, 0) };
}

function shareAt(angle: number): number {
  return Math.sin(Math.min(Math.max(angle, 0), Math.PI / 2)) ** 2;
}
