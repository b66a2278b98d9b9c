import { chanceOf } from "../draws.ts";
import { inOrder, TraceBuilder } from "../trace-builder.ts";
import type { Trace } from "../types.ts";

/** What it is spread over: an application's name, and its share of the requests. */
export interface Share {
  name: string;
  share: number;
}

/** Leaves each request in with a chance of `share`: lower rates, and the shape and the lengths as they were. */
export function thinned(trace: Trace, share: number, seed: number): Trace {
  const random = chanceOf(seed, 0);
  const kept: number[] = [];
  for (let i = 0; i < trace.at.length; i += 1) if (random() < share) kept.push(i);
  return inOrder(trace, Uint32Array.from(kept));
}

/**
 * A trace of one application, as one of many: each request goes to one of them by chance and share. Times stay, so
 * that all have their bursts together, as a farm's whole load has.
 */
export function spreadOver(trace: Trace, shares: readonly Share[], seed: number): Trace {
  const random = chanceOf(seed, 0);
  const sum = shares.reduce((all, { share }) => all + share, 0);
  let upTo = 0;
  const ends = shares.map(({ share }) => {
    upTo += share / sum;
    return upTo;
  });
  const app = Uint16Array.from(trace.at, () => {
    const drawn = random();
    const found = ends.findIndex((end) => drawn < end);
    return found < 0 ? shares.length - 1 : found;
  });
  return { ...trace, applications: shares.map(({ name }) => name), app };
}

/**
 * A trace of one application, played by many, each for itself: all of it `times` times over, of which each plays its
 * share, from a place of its own (at the end it goes on with the begin). So each has its own bursts at its own times.
 */
export function replayedBy(trace: Trace, shares: readonly Share[], times: number, seed: number): Trace {
  const builder = new TraceBuilder();
  const { at, input, output, prefix } = trace;
  const sum = shares.reduce((all, { share }) => all + share, 0);
  const spanMs = (at[at.length - 1] ?? 0) + 1;
  for (const [place, { name, share }] of shares.entries()) {
    const app = builder.application(name);
    const random = chanceOf(seed, place);
    for (let left = (times * share) / sum; left > 0; left -= 1) {
      const turn = random() * spanMs;
      for (let i = 0; i < at.length; i += 1) {
        if (left < 1 && random() >= left) continue;
        const row = { app, input: input[i] ?? 1, output: output[i] ?? 1, prefix: prefix?.[i] ?? 0 };
        builder.add({ ...row, at: ((at[i] ?? 0) + turn) % spanMs });
      }
    }
  }
  return builder.build();
}
