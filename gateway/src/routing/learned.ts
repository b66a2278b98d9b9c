import { movingMean } from "@farmgate/shared";
import { LRUCache } from "lru-cache";
import type { LearnedView, PairTimes } from "./types.ts";

/** Models whose times are remembered. One that is forgotten is learned anew. */
const MODELS = 2_000;

/** How much the newest value counts. */
const WEIGHT = 0.3;

interface Times extends PairTimes {
  /** From the sending of a request that found the model warm to the first byte of its stream. */
  firstByteMs: number | null;
}

/** A whole answer with status 200. Times in milliseconds, from when the request was sent. */
export interface CompleteAnswer {
  /** How the worker stood with the model when the request was sent: loaded, or not at all. */
  found: "warm" | "cold";
  /** It came as a stream, so that its first byte says when the model began. */
  streamed: boolean;
  firstByteMs: number;
  ms: number;
}

/**
 * What the answers of workers teach about their models: service and load times as exponentially weighted means (EWMA),
 * in milliseconds, per worker and model.
 */
export class Learned implements LearnedView {
  readonly #models = new LRUCache<string, Map<string, Times>>({ max: MODELS });

  of(worker: string, key: string): PairTimes | undefined {
    return this.#models.peek(key)?.get(worker);
  }

  /**
   * 1. Found warm: its whole time is the service time. The caller leaves out requests that had to wait for a slot.
   * 2. Found cold: what its first byte took longer than one usually does is the load. Without a stream the first byte
   *    comes with the last. A first byte no later than usual: it was not cold after all.
   */
  answered(worker: string, key: string, { found, streamed, firstByteMs, ms }: CompleteAnswer): void {
    const times = this.#timesOf(worker, key);
    // 1
    if (found === "warm") {
      times.serviceMs = movingMean(times.serviceMs, ms, WEIGHT);
      if (streamed) times.firstByteMs = movingMean(times.firstByteMs, firstByteMs, WEIGHT);
      return;
    }
    // 2
    const loadMs = firstByteMs - ((streamed ? times.firstByteMs : times.serviceMs) ?? 0);
    if (loadMs > 0) times.loadMs = movingMean(times.loadMs, loadMs, WEIGHT);
  }

  /** Forgets every worker that is not in `workers`: after a change of the configuration. */
  keepOnly(workers: ReadonlySet<string>): void {
    for (const model of this.#models.values()) {
      for (const worker of model.keys()) if (!workers.has(worker)) model.delete(worker);
    }
  }

  #timesOf(worker: string, key: string): Times {
    let model = this.#models.get(key);
    if (model === undefined) {
      model = new Map();
      this.#models.set(key, model);
    }
    let times = model.get(worker);
    if (times === undefined) {
      times = { serviceMs: null, loadMs: null, firstByteMs: null };
      model.set(worker, times);
    }
    return times;
  }
}
