/** Each bucket ends 1 % above where it begins, and is told by its middle: at most 0.5 % off. */
const GROWTH = Math.log(1.01);
/** Smaller values are told as this. In milliseconds: a hundredth of one is no matter to anybody. */
const LEAST = 0.01;
/** From `LEAST` to 28 hours, in milliseconds; what is above is told by the exact maximum. */
const BUCKETS = 2_316;

export interface Percentiles {
  count: number;
  mean: number;
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

/** Counts of values by their size: 9 KB, however many there are. */
export class LogHistogram {
  readonly #counts = new Uint32Array(BUCKETS);
  #count = 0;
  #sum = 0;
  #max = 0;

  /** Values that are no number, or are negative, count as 0. */
  add(value: number): void {
    const known = value > 0 ? value : 0;
    const bucket = known <= LEAST ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(known / LEAST) / GROWTH));
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#count += 1;
    this.#sum += known;
    if (known > this.#max) this.#max = known;
  }

  get count(): number {
    return this.#count;
  }

  get max(): number {
    return this.#max;
  }

  /** The value that a share of all are not above, 0 to 1; 0 when there are none. */
  quantile(share: number): number {
    const rank = Math.max(1, Math.ceil(share * this.#count));
    let seen = 0;
    for (let bucket = 0; bucket < BUCKETS; bucket += 1) {
      seen += this.#counts[bucket] ?? 0;
      if (seen >= rank) return Math.min(this.#max, middleOf(bucket));
    }
    return this.#max;
  }

  /** null when there are no values. */
  percentiles(): Percentiles | null {
    if (this.#count === 0) return null;
    const [p50, p90, p99] = [this.quantile(0.5), this.quantile(0.9), this.quantile(0.99)];
    return { count: this.#count, mean: this.#sum / this.#count, p50, p90, p99, max: this.#max };
  }

  /** Up to `most` points of the distribution: values, and the share of all that are not above them. */
  points(most: number): { value: number; share: number }[] {
    if (this.#count === 0) return [];
    const shares = Array.from({ length: most }, (_, i) => (i + 1) / most);
    return shares.map((share) => ({ value: this.quantile(share), share }));
  }
}

function middleOf(bucket: number): number {
  return bucket === 0 ? LEAST : LEAST * Math.exp((bucket - 0.5) * GROWTH);
}
