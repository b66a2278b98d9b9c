/** How long it is remembered that a model takes no batch of some size, in milliseconds: engines are set up anew. */
const REMEMBERED_MS = 600_000;
/** Models that are remembered at most. */
const MOST_MODELS = 1_000;

/** How many inputs of one request each model is known not to take; some engines have a limit, or take one alone. */
export class BatchLimits {
  readonly #byModel = new Map<string, { most: number; until: number }>();

  /** A joined request with so many inputs was refused, all of which were served one by one. */
  refused(model: string, inputs: number, now: number): void {
    this.#byModel.delete(model);
    const [oldest] = this.#byModel.keys();
    if (this.#byModel.size >= MOST_MODELS && oldest !== undefined) this.#byModel.delete(oldest);
    this.#byModel.set(model, { most: Math.max(1, Math.floor(inputs / 2)), until: now + REMEMBERED_MS });
  }

  /** Inputs that may go together. */
  most(model: string, now: number): number {
    const known = this.#byModel.get(model);
    return known === undefined || known.until <= now ? Number.POSITIVE_INFINITY : known.most;
  }
}
