import type { Bounds } from "./kernel.ts";

/** What is to be made large, and its slope, at a place. A value of -Infinity: not there. */
export interface Slope {
  value: number;
  gradient: ArrayLike<number>;
}

export interface Best {
  at: number[];
  value: number;
}

/**
 * Climbs within the bounds by resilient propagation (iRprop-): each coordinate has its own step, which grows while the
 * slope keeps its sign and halves when it changes. It needs no line search and no scale, and one evaluation a step.
 * Tells the best place of all that it saw.
 */
export function climb(
  slopeAt: (at: readonly number[]) => Slope,
  from: readonly number[],
  bounds: Bounds,
  steps: number,
): Best {
  const inside = (value: number, d: number) =>
    Math.min(Math.max(value, bounds.low[d] as number), bounds.high[d] as number);
  let at = from.map(inside);
  let best: Best = { at, value: -Infinity };
  const sizes = at.map(() => 0.3);
  let before = at.map(() => 0);
  for (let step = 0; step < steps; step += 1) {
    const { value, gradient } = slopeAt(at);
    if (value > best.value) best = { at, value };
    if (!Number.isFinite(value)) {
      if (!Number.isFinite(best.value)) return best;
      // Too far: back to the best, in smaller steps.
      at = best.at;
      for (let d = 0; d < sizes.length; d += 1) sizes[d] = (sizes[d] as number) / 4;
      before = before.map(() => 0);
      continue;
    }
    let largest = 0;
    at = at.map((place, d) => {
      const sign = Math.sign(gradient[d] as number);
      const turned = sign * (before[d] as number);
      if (turned > 0) sizes[d] = Math.min((sizes[d] as number) * 1.2, 1);
      if (turned < 0) sizes[d] = (sizes[d] as number) * 0.5;
      before[d] = turned < 0 ? 0 : sign;
      if (turned < 0) return place;
      const next = inside(place + sign * (sizes[d] as number), d);
      largest = Math.max(largest, Math.abs(next - place));
      return next;
    });
    if (largest > 0 && largest < 1e-3) break;
  }
  return best;
}
