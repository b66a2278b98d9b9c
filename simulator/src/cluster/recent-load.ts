import type { ModelLoad } from "@farmgate/gateway/policies";

const BUCKET_MS = 250;
const BUCKETS = 512;

/** One count a bucket, for the last two minutes. */
interface Column {
  ring: Float64Array;
  total: number;
}

/** How a request ended. */
export interface Ended {
  /** Tokens; null: it was not served to its end. */
  output: number | null;
  /** It had its first token. */
  hasBegun: boolean;
  /** Its first token, and those after it, kept the application's limits. */
  firstInTime: boolean;
  restInTime: boolean;
}

const column = (): Column => ({ ring: new Float64Array(BUCKETS), total: 0 });

/** How an application was asked of late, and how its requests ended. Windows of up to two minutes. */
export class RecentLoad {
  readonly #arrived = column();
  readonly #input = column();
  readonly #inputSquares = column();
  readonly #finished = column();
  readonly #output = column();
  readonly #outputSquares = column();
  readonly #ended = column();
  readonly #onTime = column();
  readonly #firstInTime = column();
  readonly #restInTime = column();
  readonly #begun = column();
  readonly #all = [
    this.#arrived,
    this.#input,
    this.#inputSquares,
    this.#finished,
    this.#output,
    this.#outputSquares,
    this.#ended,
    this.#onTime,
    this.#firstInTime,
    this.#restInTime,
    this.#begun,
  ];
  #bucket = 0;

  arrived(now: number, input: number): void {
    this.#turnTo(now);
    this.#add(this.#arrived, 1);
    this.#add(this.#input, input);
    this.#add(this.#inputSquares, input * input);
  }

  ended(now: number, { output, hasBegun, firstInTime, restInTime }: Ended): void {
    this.#turnTo(now);
    this.#add(this.#ended, 1);
    if (hasBegun) this.#add(this.#begun, 1);
    if (firstInTime) this.#add(this.#firstInTime, 1);
    if (restInTime) this.#add(this.#restInTime, 1);
    if (firstInTime && restInTime) this.#add(this.#onTime, 1);
    if (output === null) return;
    this.#add(this.#finished, 1);
    this.#add(this.#output, output);
    this.#add(this.#outputSquares, output * output);
  }

  /** Lengths of a window without any: those of all before. */
  load(now: number, windowMs: number): ModelLoad {
    this.#turnTo(now);
    const first = this.#firstBucket(now, windowMs);
    const covered = now - first * BUCKET_MS;
    const input = this.#moments(this.#arrived, this.#input, this.#inputSquares, first);
    const output = this.#moments(this.#finished, this.#output, this.#outputSquares, first);
    return {
      requestsPerSecond: covered <= 0 ? 0 : (1000 * this.#sum(this.#arrived, first)) / covered,
      inputMean: input.mean,
      inputVariance: input.variance,
      outputMean: output.mean,
      outputVariance: output.variance,
    };
  }

  onTime(now: number, windowMs: number): number | null {
    this.#turnTo(now);
    const first = this.#firstBucket(now, windowMs);
    const ended = this.#sum(this.#ended, first);
    return ended === 0 ? null : this.#sum(this.#onTime, first) / ended;
  }

  /** Of all that ended, those whose first token came in time; of those that had one, those whose other tokens did. */
  inTime(now: number, windowMs: number): { first: number | null; rest: number | null } {
    this.#turnTo(now);
    const first = this.#firstBucket(now, windowMs);
    const share = (column: Column, of: Column) => {
      const all = this.#sum(of, first);
      return all === 0 ? null : this.#sum(column, first) / all;
    };
    return { first: share(this.#firstInTime, this.#ended), rest: share(this.#restInTime, this.#begun) };
  }

  #firstBucket(now: number, windowMs: number): number {
    const wanted = Math.floor(Math.max(0, now - windowMs) / BUCKET_MS);
    return Math.max(wanted, this.#bucket - BUCKETS + 1, 0);
  }

  #moments(count: Column, sum: Column, squares: Column, first: number): { mean: number; variance: number } {
    let n = this.#sum(count, first);
    let s = this.#sum(sum, first);
    let q = this.#sum(squares, first);
    if (n === 0) {
      n = count.total;
      s = sum.total;
      q = squares.total;
    }
    if (n === 0) return { mean: 0, variance: 0 };
    const mean = s / n;
    return { mean, variance: Math.max(0, q / n - mean * mean) };
  }

  #sum(column: Column, first: number): number {
    let sum = 0;
    for (let bucket = first; bucket <= this.#bucket; bucket++) sum += column.ring[bucket % BUCKETS] as number;
    return sum;
  }

  #add(column: Column, value: number): void {
    const place = this.#bucket % BUCKETS;
    column.ring[place] = (column.ring[place] as number) + value;
    column.total += value;
  }

  #turnTo(now: number): void {
    const bucket = Math.floor(now / BUCKET_MS);
    if (bucket === this.#bucket) return;
    const stale = Math.min(BUCKETS, bucket - this.#bucket);
    for (let back = 0; back < stale; back++) {
      for (const { ring } of this.#all) ring[(bucket - back) % BUCKETS] = 0;
    }
    this.#bucket = bucket;
  }
}
