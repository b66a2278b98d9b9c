import { mean } from "./means.ts";
import type { PageCache } from "./page-cache.ts";

/** Pairs kept; beyond them the first one learned is forgotten. */
const MAX_PAIRS = 10_000;

/** A load that ended well. */
export interface LoadDone {
  /** The model that was there before; null: none, or not known. */
  from: string | null;
  to: string;
  /** From the first unload that made room for it until it was proved ready. */
  ms: number;
  /** It was found ready before anything was done: that is no load, and would pull the mean down. */
  wasReady: boolean;
}

/** From disk, or from the page cache. */
type Warmth = "cold" | "warm";
type Means = Record<Warmth, number | null>;

/**
 * Mean load times by what went and what came, loads from disk and from the page cache apart: they differ by an order of
 * magnitude, and what must be unloaded first counts too.
 */
export class LoadTimes {
  readonly #pairs = new Map<string, Means>();
  /** By the model loaded, whatever went for it. */
  readonly #any = new Map<string, Means>();
  readonly #cache: PageCache;

  constructor(cache: PageCache) {
    this.#cache = cache;
  }

  loaded({ from, to, ms, wasReady }: LoadDone, now: number): void {
    if (!wasReady) {
      const warmth = this.#warmth(to, now - ms);
      for (const means of [entry(this.#pairs, pairKey(to, from)), entry(this.#any, to)]) {
        means[warmth] = mean(means[warmth], ms);
      }
    }
    if (from !== null) this.#cache.left(from, now);
    this.#cache.read(to, now);
  }

  /**
   * 1. the mean of this pair in the class that a load now would be of;
   * 2. else that of any load of `to` in this class;
   * 3. else the same of the other class: better than nothing;
   * 4. else null.
   */
  expect(to: string, from: string | null, now: number): number | null {
    const warmth = this.#warmth(to, now);
    const other = warmth === "cold" ? "warm" : "cold";
    const [pair, any] = [this.#pairs.get(pairKey(to, from)), this.#any.get(to)];
    return pair?.[warmth] ?? any?.[warmth] ?? pair?.[other] ?? any?.[other] ?? null;
  }

  #warmth(model: string, now: number): Warmth {
    return this.#cache.has(model, now) ? "warm" : "cold";
  }
}

function pairKey(to: string, from: string | null): string {
  return JSON.stringify([to, from]);
}

function entry(map: Map<string, Means>, key: string): Means {
  let means = map.get(key);
  if (means === undefined) {
    means = { cold: null, warm: null };
    map.set(key, means);
    trim(map);
  }
  return means;
}

function trim(map: Map<string, unknown>): void {
  const [first] = map.keys();
  if (map.size > MAX_PAIRS && first !== undefined) map.delete(first);
}
