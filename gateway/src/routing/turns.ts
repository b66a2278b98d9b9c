import { LRUCache } from "lru-cache";
import type { TurnsView } from "./types.ts";

/** Models whose turns are remembered. One that is forgotten starts anew, which costs a turn at most. */
const MODELS = 2_000;

interface ModelTurns {
  /** Virtual time: the pass of whoever was picked last. It never goes back. */
  now: number;
  passes: Map<string, number>;
}

/**
 * Fair turns between workers, by weight and per model. Stride scheduling (Waldspurger and Weihl 1995): each pick moves
 * a worker's pass on by 1/weight, and the lowest pass is next. As in start-time fair queueing (Goyal, Vin and Chen
 * 1996) nobody's pass lies before the pass of the last pick, so that a worker which is new, or was away, takes its
 * share from now on instead of a burst of everything that it missed.
 */
export class Turns implements TurnsView {
  readonly #models = new LRUCache<string, ModelTurns>({ max: MODELS });
  /** The last look-up: a choice asks for one model and many workers. */
  #askedKey: string | null = null;
  #asked: ModelTurns | undefined;

  pass(worker: string, key: string): number {
    if (key !== this.#askedKey) {
      this.#askedKey = key;
      this.#asked = this.#models.peek(key);
    }
    const model = this.#asked;
    if (model === undefined) return 0;
    return Math.max(model.now, model.passes.get(worker) ?? 0);
  }

  /** The worker was picked for the model of `key`; `weight` is the choice's `turnWeight`, above 0. */
  picked(worker: string, key: string, weight: number): void {
    let model = this.#models.get(key);
    if (model === undefined) {
      model = { now: 0, passes: new Map() };
      this.#models.set(key, model);
      this.#askedKey = null;
    }
    model.now = Math.max(model.now, model.passes.get(worker) ?? 0);
    model.passes.set(worker, model.now + 1 / weight);
  }

  /** Forgets every worker that is not in `workers`: after a change of the configuration. */
  keepOnly(workers: ReadonlySet<string>): void {
    for (const model of this.#models.values()) {
      for (const worker of model.passes.keys()) if (!workers.has(worker)) model.passes.delete(worker);
    }
  }
}
