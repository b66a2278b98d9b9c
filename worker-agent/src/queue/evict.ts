/** A loaded model that may go, as far as the choice goes. */
export interface Evictable {
  readonly name: string;
  /** What its going frees: bytes, or models at budget 0. */
  readonly weight: number;
  /** Milliseconds of a load of it; null: not known yet. */
  readonly reloadMs: number | null;
  /** Milliseconds since it last had something to do. */
  readonly idleMs: number;
  /** Jobs that wait for it. */
  readonly waiting: number;
  /** Rises with each grant of any model: the smallest was used longest ago. */
  readonly usedSeq: number;
}

/** Milliseconds; what a load is taken to cost before one was seen. */
const UNKNOWN_RELOAD = 30_000;
/** Milliseconds in which the likelihood that an idle model is needed soon halves. */
const HALF_LIFE = 600_000;
/** Up to so many models every subset is looked at. */
const EXACT = 12;

/** What its going costs: the time of a load, by how likely that is soon. Jobs that wait make it certain, each anew. */
function costOf(model: Evictable): number {
  const likelihood = model.waiting > 0 ? 1 + model.waiting : 2 ** (-model.idleMs / HALF_LIFE);
  return (model.reloadMs ?? UNKNOWN_RELOAD) * likelihood;
}

/**
 * The cheapest models whose going frees `toFree`; null: all of them are not enough. That a victim is weighed by what
 * its return costs and by its size, not by its last use alone, is from GreedyDual-Size (P. Cao, S. Irani: Cost-Aware
 * WWW Proxy Caching Algorithms, USITS 1997); with so few models the set can be chosen as a whole.
 *
 * 1. nothing to free: nobody goes;
 * 2. up to 12 models: the subset with the smallest sum of costs; at a tie the one with fewer models, then the one whose
 *    models were used longer ago;
 * 3. more: by cost for what is freed, cheapest first, until that is enough; then those that turned out superfluous
 *    stay, the dearest first.
 */
export function cheapestSet(models: readonly Evictable[], toFree: number): Evictable[] | null {
  if (toFree <= 0) return []; // (1)
  if (sumOf(models) < toFree) return null;
  const oldestFirst = [...models].sort((a, b) => a.usedSeq - b.usedSeq);
  return models.length <= EXACT ? cheapestSubset(oldestFirst, toFree) : greedySet(oldestFirst, toFree); // (2), (3)
}

function cheapestSubset(models: readonly Evictable[], toFree: number): Evictable[] {
  const costs = models.map(costOf);
  let best = { members: 0, cost: Number.POSITIVE_INFINITY, count: 0 };
  for (let members = 1; members < 1 << models.length; members += 1) {
    let [weight, cost, count] = [0, 0, 0];
    for (const [place, model] of models.entries()) {
      if ((members & (1 << place)) === 0) continue;
      weight += model.weight;
      cost += costs[place] ?? 0;
      count += 1;
    }
    // Subsets come in the order in which the models used last join last, so that the first of equals is the oldest.
    if (weight >= toFree && (cost < best.cost || (cost === best.cost && count < best.count))) {
      best = { members, cost, count };
    }
  }
  return models.filter((_, place) => (best.members & (1 << place)) !== 0);
}

function greedySet(models: readonly Evictable[], toFree: number): Evictable[] {
  const byPrice = [...models].sort((a, b) => costOf(a) / a.weight - costOf(b) / b.weight);
  const chosen: Evictable[] = [];
  let freed = 0;
  for (const model of byPrice) {
    if (freed >= toFree) break;
    chosen.push(model);
    freed += model.weight;
  }
  for (const model of [...chosen].sort((a, b) => costOf(b) - costOf(a))) {
    if (freed - model.weight < toFree) continue;
    chosen.splice(chosen.indexOf(model), 1);
    freed -= model.weight;
  }
  return chosen;
}

function sumOf(models: readonly Evictable[]): number {
  return models.reduce((sum, model) => sum + model.weight, 0);
}
