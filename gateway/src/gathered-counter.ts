import { Counter, type CounterConfiguration } from "prom-client";

type Labels<L extends string> = Readonly<Record<L, string | number>>;

/** So many sums are kept: more would take longer to go through than prom-client takes. */
const MOST_SUMS = 8;

/**
 * A counter whose steps are added up by their labels, and handed on when somebody reads, or when there are too many
 * different ones. prom-client looks each step up by all its labels, which costs as much as routing a request does.
 */
export class GatheredCounter<L extends string> {
  readonly #counter: Counter<L>;
  #sums: { labels: Labels<L>; by: number }[] = [];

  constructor(configuration: CounterConfiguration<L>) {
    this.#counter = new Counter({ ...configuration, collect: () => this.#handOn() });
  }

  /** `labels` always has the same names; `by` is not negative. */
  inc(labels: Labels<L>, by: number = 1): void {
    const sum = this.#sums.find((one) => isSame(one.labels, labels));
    if (sum !== undefined) {
      sum.by += by;
      return;
    }
    if (this.#sums.length === MOST_SUMS) this.#handOn();
    this.#sums.push({ labels, by });
  }

  #handOn(): void {
    for (const { labels, by } of this.#sums) this.#counter.inc(labels, by);
    this.#sums = [];
  }
}

function isSame<L extends string>(a: Labels<L>, b: Labels<L>): boolean {
  for (const name in a) if (a[name] !== b[name]) return false;
  return true;
}
