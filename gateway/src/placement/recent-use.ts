/** A model asked for within this time counts as in use, in milliseconds. */
const RECENT_MS = 15 * 60_000;
/** Models that are remembered; the one not asked for the longest is forgotten first. */
const MODELS = 1_000;

/** Which models are in use, read only. */
export interface RecentUseView {
  isInUse(key: string, now: number): boolean;
  /** `nameKey` of each model in use. */
  inUse(now: number): readonly string[];
  /** Goes up when a model comes into use. */
  readonly generation: number;
}

/** When each model was last asked for. Times in milliseconds of `now`. */
export class RecentUse implements RecentUseView {
  /** In the order of the last request. */
  readonly #askedAt = new Map<string, number>();
  /** The last one in that order: to ask for it again moves nothing. */
  #latest = "";
  #generation = 0;

  get generation(): number {
    return this.#generation;
  }

  /** A request for the model of this key came. */
  asked(key: string, now: number): void {
    if (!this.isInUse(key, now)) this.#generation += 1;
    if (key !== this.#latest) this.#askedAt.delete(key);
    this.#latest = key;
    this.#askedAt.set(key, now);
    if (this.#askedAt.size <= MODELS) return;
    for (const oldest of this.#askedAt.keys()) {
      this.#askedAt.delete(oldest);
      break;
    }
  }

  isInUse(key: string, now: number): boolean {
    const at = this.#askedAt.get(key);
    return at !== undefined && now - at < RECENT_MS;
  }

  inUse(now: number): readonly string[] {
    for (const [key, at] of this.#askedAt) {
      if (now - at < RECENT_MS) break;
      this.#askedAt.delete(key);
    }
    return [...this.#askedAt.keys()];
  }
}
