import { isMovableState } from "./arrival.ts";
import { type BinSpace, CLOSED, FREE, LEAVING, range, SHARED, WHOLE } from "./bin-space.ts";
import { type Fleet, itemOf, type Placed } from "./fleet.ts";
import { type Item, mayUse } from "./packing.ts";
import type { PoolRules } from "./rules.ts";
import type { ModelView, PoolAction } from "./types.ts";

export interface ElasticPlaces {
  actions: readonly PoolAction[];
  reasons: readonly string[];
}

/**
 * Brings the replicas of each line to its count:
 *
 * 1. Those on bins that the stable pool claimed go, and those above the count: first what still starts, then those whose
 *    host has the most free bins, so that whole hosts become free.
 * 2. A replica that shares its bins with the stable pool, where its model was before, moves to bins of its own.
 * 3. New ones start, those of a line that has none first, then the widest, then of the hottest line: 3a. on free bins, the
 *    fastest first; 3b. on bins that others are leaving, where it fits beside what is left: those with the least memory to
 *    spare; 3c. else they wait until the bins are left.
 */
export function placeLines(
  fleet: Fleet,
  space: BinSpace,
  lines: readonly ModelView[],
  counts: ReadonlyMap<string, number>,
  usable: Uint8Array,
  rules: PoolRules,
): ElasticPlaces {
  const placer = new Placer(fleet, space, usable, rules);
  for (const line of lines) placer.reduce(line, counts.get(line.id) ?? 0);
  for (const line of lines) placer.separate(line);
  const needs = lines.flatMap((line) => {
    const have = placer.countOf(line);
    const missing = Math.max(0, (counts.get(line.id) ?? 0) - have);
    return Array.from({ length: missing }, (_, n) => ({ line, isFirst: have + n === 0, number: have + n + 1 }));
  });
  needs.sort(
    (a, b) =>
      Number(b.isFirst) - Number(a.isFirst) ||
      b.line.span - a.line.span ||
      b.line.heat - a.line.heat ||
      a.number - b.number,
  );
  for (const { line, number } of needs) placer.start(line, number, counts.get(line.id) ?? 0);
  return placer;
}

class Placer implements ElasticPlaces {
  readonly actions: PoolAction[] = [];
  readonly reasons: string[] = [];
  readonly #fleet: Fleet;
  readonly #space: BinSpace;
  readonly #usable: Uint8Array;
  readonly #rules: PoolRules;
  readonly #released = new Set<Placed>();
  readonly #items = new Map<string, Item>();
  /** Lines for which no place was found, by span: the next of them need not look. */
  readonly #waiting = new Map<string, number>();

  constructor(fleet: Fleet, space: BinSpace, usable: Uint8Array, rules: PoolRules) {
    this.#fleet = fleet;
    this.#space = space.copy();
    this.#usable = usable;
    this.#rules = rules;
    for (const [bin, isUsable] of usable.entries()) {
      if (isUsable !== 1 && this.#space.use[bin] === FREE) this.#space.use[bin] = CLOSED;
    }
  }

  countOf(line: ModelView): number {
    return this.#fleet.staying(line.id).filter((placed) => !this.#released.has(placed)).length;
  }

  reduce(line: ModelView, count: number): void {
    const staying = this.#fleet.staying(line.id);
    for (const placed of staying) {
      if (!this.#isShared(placed) && !placed.frozen && !this.#isUsable(placed)) {
        this.#release(placed, "the stable pool needs its bins");
      }
    }
    const surplus = this.countOf(line) - count;
    if (surplus <= 0) return;
    const free = this.#space.freeByHost();
    const rank = (placed: Placed) => [
      this.#isShared(placed) ? 0 : 1,
      placed.replica.state === "starting" ? 0 : 1,
      -(free[this.#fleet.layout.hosts[placed.bins[0] ?? 0] ?? 0] ?? 0),
      -(placed.bins[0] ?? 0),
    ];
    const goable = staying.filter((placed) => !this.#released.has(placed) && !placed.frozen);
    const ranked = goable.map((placed) => ({ placed, rank: rank(placed) })).sort((a, b) => byRank(a.rank, b.rank));
    for (const { placed } of ranked.slice(0, surplus)) {
      this.#release(
        placed,
        count === 1 ? `1 replica of ${line.id} is enough` : `${count} replicas of ${line.id} are enough`,
      );
    }
  }

  separate(line: ModelView): void {
    for (const placed of this.#fleet.staying(line.id)) {
      if (!this.#isShared(placed) || this.#released.has(placed) || !isMovableState(placed)) continue;
      if (this.#fleet.isMoving(placed)) continue;
      const first = this.#bestFree(this.#item(line));
      if (first === null) {
        this.reasons.push(`${line.id} goes on sharing its bins: no others are free`);
        continue;
      }
      this.#take(first, line);
      const reason = `${line.id} has bins of its own in the elastic pool`;
      this.actions.push({ kind: "move", replica: placed.replica.id, to: this.#ids(first, line.span), reason });
    }
  }

  start(line: ModelView, number: number, count: number): void {
    const waiting = this.#waiting.get(line.id);
    if (waiting !== undefined) return;
    const item = this.#item(line);
    const free = this.#bestFree(item);
    const first = free ?? (this.#rules.coordination === "global" ? this.#bestLeft(item) : null);
    if (first === null) {
      this.#waiting.set(line.id, number);
      this.reasons.push(`replica ${number} of ${count} of ${line.id} waits for bins`);
      return;
    }
    this.#take(first, line);
    const beside = free === null ? ", beside one that is leaving" : "";
    const reason = `replica ${number} of ${count}${beside}`;
    this.actions.push({ kind: "activate", model: line.id, pool: "elastic", bins: this.#ids(first, line.span), reason });
  }

  #item(line: ModelView): Item {
    const known = this.#items.get(line.id);
    if (known !== undefined) return known;
    const item = itemOf(this.#fleet, line);
    this.#items.set(line.id, item);
    return item;
  }

  #isShared({ bins }: Placed): boolean {
    return bins.some((bin) => this.#space.use[bin] === SHARED || this.#space.use[bin] === CLOSED);
  }

  #isUsable({ bins }: Placed): boolean {
    return bins.every((bin) => this.#usable[bin] === 1);
  }

  #release(placed: Placed, reason: string): void {
    this.#released.add(placed);
    this.actions.push({ kind: "release", replica: placed.replica.id, reason });
    if (!this.#isUsable(placed)) return;
    for (const bin of placed.bins) {
      const stays = this.#fleet
        .on(bin)
        .some((other) => other.replica.state !== "draining" && !this.#released.has(other));
      if (!stays) this.#space.use[bin] = LEAVING;
    }
  }

  #take(first: number, { demand, span }: ModelView): void {
    this.#space.put(range(first, span), demand, span);
    for (const bin of range(first, span)) this.#space.use[bin] = WHOLE;
  }

  #bestFree(item: Item): number | null {
    const { span, demand } = item;
    const { layout } = this.#space;
    const free = this.#space.freeByHost();
    let best = -1;
    let fastest = -1;
    let fewest = 0;
    for (const first of layout.groups(span)) {
      if (!this.#space.isAll(first, span, 1 << FREE) || !mayUse(item, first)) continue;
      const compute = layout.capacity[3 * first + 1] ?? 0;
      const neighbours = free[layout.hosts[first] ?? 0] ?? 0;
      if (compute < fastest || (compute === fastest && neighbours >= fewest)) continue;
      if (!this.#space.startsBeside(first, demand, span, 0)) continue;
      best = first;
      fastest = compute;
      fewest = neighbours;
    }
    return best < 0 ? null : best;
  }

  #bestLeft(item: Item): number | null {
    const { span, demand } = item;
    let best = -1;
    let fullest = -1;
    for (const first of this.#space.layout.groups(span)) {
      if (!this.#space.isAll(first, span, (1 << FREE) | (1 << LEAVING)) || !mayUse(item, first)) continue;
      if (!this.#space.startsBeside(first, demand, span, this.#rules.besideSpare)) continue;
      let used = 0;
      let isUsable = true;
      for (let bin = first; bin < first + span; bin += 1) {
        used = Math.max(used, this.#space.load[3 * bin] ?? 0);
        if (this.#usable[bin] !== 1) isUsable = false;
      }
      if (!isUsable || used <= fullest) continue;
      best = first;
      fullest = used;
    }
    return best < 0 ? null : best;
  }

  #ids(first: number, span: number): readonly string[] {
    return range(first, span).map((bin) => this.#fleet.layout.bins[bin]?.id ?? "");
  }
}

function byRank(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, place) => value !== b[place]);
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}
