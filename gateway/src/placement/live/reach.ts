import type { Catalog } from "../../catalog/types.ts";
import type { Observations } from "./observations.ts";

/** Whether a copy of a model on a worker can be expected to help. */
export interface Reach {
  /** Milliseconds to the first byte of a usual request that finds a free slot; null: nobody knows. */
  firstMs: number | null;
  /** Why a copy there helps nobody, in words that follow the worker's name; null: it may help. */
  why: string | null;
}

/** Of the target: the rest is for requests that come together, and for prompts longer than usual. */
const PART = 0.5;
/** Requests of which the share on time of one worker says something beside that of the others. */
const FEWEST = 10;
/** A share on time that is lower by less than this is no reason to leave a worker out. */
const MARGIN = 0.1;
/** A worker is measured anew after so long: it may have got another engine, or a better network. */
const RATES_MS = 86_400_000;

/**
 * What is to be expected of a model's copy on a worker, of a usual prompt:
 *
 * 1. Its share on time there was measured within the last hour, and is plainly lower than that of its other copies: no
 *    help. An hour after the last request there this is forgotten, and it is looked at again.
 * 2. By rates: 2a. the pair's own, measured within a day; 2b. else by the rates of other workers with the model, and how
 *    fast it is beside each of them with the models that were measured on both. No help where the prompt alone takes more
 *    than half of the target.
 * 3. Else nobody knows: it may be tried, and what is measured there decides from then on.
 */
export function reaches(
  catalog: Catalog,
  seen: Observations,
  keys: readonly string[],
  { targetMs, now }: { targetMs: number; now: number },
): (worker: string, key: string) => Reach {
  const rates = new Rates(catalog, seen, keys, now);
  const known = new Map<string, Reach>();
  return (worker, key) => {
    const id = `${worker}\n${key}`;
    const before = known.get(id);
    if (before !== undefined) return before;
    const rate = rates.of(worker, key);
    const input = seen.of(key)?.usualInput ?? null;
    const firstMs = rate === null || input === null ? null : (1_000 * input) / rate;
    // 1, 2, 3
    const why = whyLate(catalog, seen, worker, key, now) ?? whySlow(firstMs, targetMs);
    const reach = { firstMs, why };
    known.set(id, reach);
    return reach;
  };
}

function whyLate(catalog: Catalog, seen: Observations, worker: string, key: string, now: number): string | null {
  const here = seen.pair(worker, key)?.judged(now);
  if (here === undefined || here.requests < FEWEST) return null;
  const others = catalog.workers.flatMap(({ config: { name } }) => {
    const judged = name === worker ? undefined : seen.pair(name, key)?.judged(now);
    return judged === undefined || judged.requests < FEWEST ? [] : judged.share;
  });
  const best = Math.max(0, ...others);
  const noise = Math.sqrt((here.share * (1 - here.share)) / here.requests);
  if (here.share + Math.max(MARGIN, noise) >= best) return null;
  return `had ${percent(here.share)} of it on time in the last hour, another one ${percent(best)}`;
}

function whySlow(firstMs: number | null, targetMs: number): string | null {
  if (firstMs === null || firstMs <= PART * targetMs) return null;
  return `would take ${(firstMs / 1_000).toPrecision(2)} s for a usual prompt of it, more than half of the target`;
}

/** Tokens a second of prompts, measured or from what was measured. */
class Rates {
  readonly #catalog: Catalog;
  readonly #seen: Observations;
  readonly #keys: readonly string[];
  readonly #now: number;
  /** How fast a worker is beside another one. */
  readonly #ratios = new Map<string, number | null>();

  constructor(catalog: Catalog, seen: Observations, keys: readonly string[], now: number) {
    this.#catalog = catalog;
    this.#seen = seen;
    this.#keys = keys;
    this.#now = now;
  }

  of(worker: string, key: string): number | null {
    // 2a
    const own = this.#measured(worker, key);
    if (own !== null) return own;
    // 2b
    const told = this.#catalog.workers.flatMap(({ config: { name } }) => {
      const theirs = name === worker ? null : this.#measured(name, key);
      const ratio = theirs === null ? null : this.#ratio(worker, name);
      return theirs === null || ratio === null ? [] : theirs * ratio;
    });
    return meanOf(told);
  }

  #measured(worker: string, key: string): number | null {
    const pair = this.#seen.pair(worker, key);
    return pair === null || this.#now - pair.answeredAt > RATES_MS ? null : pair.inputRate;
  }

  #ratio(worker: string, other: string): number | null {
    const id = `${worker}\n${other}`;
    let ratio = this.#ratios.get(id);
    if (ratio === undefined) {
      const ratios = this.#keys.flatMap((key) => {
        const [here, there] = [this.#measured(worker, key), this.#measured(other, key)];
        return here === null || there === null ? [] : here / there;
      });
      ratio = meanOf(ratios);
      this.#ratios.set(id, ratio);
    }
    return ratio;
  }
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
