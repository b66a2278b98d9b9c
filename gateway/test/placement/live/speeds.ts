import { catalogOf } from "../../routing/farm.ts";
import { Observations } from "../../../src/placement/live/observations.ts";
import { spansOf } from "../../../src/placement/live/spans.ts";
import { roomy } from "../view.ts";

/** What was measured of a pair: tokens of prompts a second, and how many of ten requests were on time. */
export interface Measured {
  worker: string;
  key: string;
  rate: number;
  onTime?: number;
}

/** Ten prompts of 1,000 tokens for each pair, all at `now`. */
export function observed(pairs: readonly Measured[], now = 0): Observations {
  const seen = new Observations(spansOf({ window: 15_000 }));
  for (const { worker, key, rate, onTime = 10 } of pairs) {
    for (let i = 0; i < 10; i += 1) {
      seen.asked(key, now);
      const request = { worker, bytes: null, input: 1_000, inputMs: 1_000_000 / rate, output: null, outputMs: null };
      seen.ended(key, { ...request, onTime: i < onTime }, now);
    }
  }
  return seen;
}

/** Workers with room for two models, where `m` is cold, warm where it is told. */
export function farm(warm: readonly string[], names = ["fast", "slow", "new"]) {
  return catalogOf(names.map((name) => roomy(name, 2, { m: warm.includes(name) ? "warm" : "cold", x: "cold" })));
}
