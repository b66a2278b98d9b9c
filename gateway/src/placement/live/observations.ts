import { BYTES_PER_TOKEN, tokensOf } from "../../tokens-of-bytes.ts";
import { type EndedRequest, ModelFigures, type Spans } from "./model-figures.ts";
import { type PairAnswer, PairUse } from "./pair-use.ts";

/** A request that has ended, for what placement learns of it. Times in milliseconds. */
export interface PlacementFigures extends Omit<EndedRequest, "input">, Omit<PairAnswer, "input" | "output" | "onTime"> {
  /** As it was sent on; null: nothing was. */
  bytes: number | null;
  /** Tokens, as its engine counted them; null: it did not tell. */
  input: number | null;
  /** Who answered it; null: nobody. */
  worker: string | null;
}

/** How much the newest answer counts for it. */
const WEIGHT = 0.1;
const DAY_MS = 86_400_000;

interface Model {
  figures: ModelFigures;
  bytesPerToken: number;
  /** By worker. */
  pairs: Map<string, PairUse>;
}

/**
 * What was observed of each model, by the `key` of the catalogue: names that callers make up never come here. A request
 * costs the same few additions however many came before.
 */
export class Observations {
  readonly #spans: Spans;
  /** Of the first request. */
  #since: number | null = null;
  readonly #models = new Map<string, Model>();

  constructor(spans: Spans) {
    this.#spans = spans;
  }

  get spans(): Spans {
    return this.#spans;
  }

  asked(key: string, now: number): void {
    this.#since ??= now;
    this.#model(key, now).figures.asked(now);
  }

  ended(key: string, request: PlacementFigures, now: number): void {
    const model = this.#model(key, now);
    const { bytes, worker, inputMs, output, outputMs, onTime } = request;
    if (request.input !== null && request.input > 0 && bytes !== null) {
      model.bytesPerToken += WEIGHT * (bytes / request.input - model.bytesPerToken);
    }
    const input = request.input ?? (bytes === null ? null : Math.ceil(tokensOf(bytes, model.bytesPerToken)));
    model.figures.ended({ input, output, onTime }, now);
    if (worker === null) return;
    let pair = model.pairs.get(worker);
    if (pair === undefined) {
      pair = new PairUse(this.#spans);
      model.pairs.set(worker, pair);
    }
    pair.answered({ input, inputMs, output, outputMs, onTime }, now);
  }

  keys(): readonly string[] {
    return [...this.#models.keys()];
  }

  of(key: string): ModelFigures | null {
    return this.#models.get(key)?.figures ?? null;
  }

  pair(worker: string, key: string): PairUse | null {
    return this.#models.get(key)?.pairs.get(worker) ?? null;
  }

  /** Models that were asked for within the longest time. */
  inUse(now: number): string[] {
    return [...this.#models].flatMap(([key, { figures }]) => (figures.isIdle(now) ? [] : [key]));
  }

  /**
   * The model was asked for within a day: whoever uses it comes back at the same hour, if not before. Of one that was not
   * yet asked for nobody can tell before a whole day was seen.
   */
  isOfToday(key: string, now: number): boolean {
    return now - (this.of(key)?.askedAt ?? this.#since ?? now) < DAY_MS;
  }

  /** Forgets models that nobody lists any more, and workers that are not of the farm. */
  keepOnly(models: ReadonlySet<string>, workers: ReadonlySet<string>): void {
    for (const [key, { pairs }] of this.#models) {
      if (!models.has(key)) this.#models.delete(key);
      for (const worker of pairs.keys()) if (!workers.has(worker)) pairs.delete(worker);
    }
  }

  #model(key: string, now: number): Model {
    let model = this.#models.get(key);
    if (model === undefined) {
      model = { figures: new ModelFigures(this.#spans, now), bytesPerToken: BYTES_PER_TOKEN, pairs: new Map() };
      this.#models.set(key, model);
    }
    return model;
  }
}
