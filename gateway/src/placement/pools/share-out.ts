/** What one line asks of a budget of bins. */
export interface Claim {
  id: string;
  /** Lines of one model go in and out together. */
  model: string;
  /** Bins that one replica takes. */
  span: number;
  /** Replicas, 1 at least. */
  wanted: number;
  /** Tokens a second. */
  heat: number;
  /** In proportion to which bins are shared out. */
  weight: number;
}

export interface Shares {
  /** Replicas by line. */
  counts: ReadonlyMap<string, number>;
  /** Models for which not one replica of each line is left, the coldest. */
  dropped: readonly string[];
}

/**
 * Shares a budget of bins out among lines:
 *
 * 1. While one replica of each line is more than there is, the coldest model is dropped.
 * 2. When there is enough for what all want, they get it.
 * 3. Else each line gets the floor of its proportional share, at least one replica, and what a line has no use for goes to
 *    the others in proportion.
 * 4. Bins that are left go, a replica each, to the largest remainders; of equals to the lower heat, then by name.
 * 5. When the ones at least were too many, the coldest lines that have more than one give back.
 */
export function shareOut(claims: readonly Claim[], budget: number): Shares {
  // 1
  const dropped: string[] = [];
  let lines = claims;
  while (binsOf(lines, () => 1) > budget) {
    const coldest = coldestModel(lines);
    if (coldest === null) break;
    dropped.push(coldest);
    lines = lines.filter(({ model }) => model !== coldest);
  }
  // 2
  if (binsOf(lines, ({ wanted }) => wanted) <= budget) {
    return { counts: new Map(lines.map(({ id, wanted }) => [id, wanted])), dropped };
  }
  // 3
  const quotas = quotasOf(lines, budget);
  const counts = new Map(lines.map((line) => [line.id, Math.max(1, Math.floor((quotas.get(line) ?? 0) + NEARLY))]));
  const countOf = ({ id }: Claim) => counts.get(id) ?? 0;
  let left = budget - binsOf(lines, countOf);
  // 4
  const remainder = (line: Claim) => (quotas.get(line) ?? 0) - countOf(line);
  while (left > 0) {
    const next = lines
      .filter((line) => line.span <= left && countOf(line) < line.wanted)
      .sort((a, b) => remainder(b) - remainder(a) || byHeat(a, b))[0];
    if (next === undefined) break;
    counts.set(next.id, countOf(next) + 1);
    left -= next.span;
  }
  // 5
  while (left < 0) {
    const coldest = lines.filter((line) => countOf(line) > 1).sort(byHeat)[0];
    if (coldest === undefined) break;
    counts.set(coldest.id, countOf(coldest) - 1);
    left += coldest.span;
  }
  return { counts, dropped };
}

/** Sums of shares are not exact. */
const NEARLY = 1e-9;

/** In replicas. A line that wants less than its share gets what it wants, and the others share the rest. */
function quotasOf(lines: readonly Claim[], budget: number): ReadonlyMap<Claim, number> {
  const quotas = new Map<Claim, number>();
  let open = lines;
  let left = budget;
  for (;;) {
    const weights = open.reduce((sum, { weight }) => sum + weight, 0);
    const quota = ({ weight, span }: Claim) => (left * (weights > 0 ? weight / weights : 1 / open.length)) / span;
    const sated = open.filter((line) => quota(line) >= line.wanted);
    if (sated.length === 0) {
      for (const line of open) quotas.set(line, quota(line));
      return quotas;
    }
    for (const line of sated) quotas.set(line, line.wanted);
    left -= binsOf(sated, ({ wanted }) => wanted);
    open = open.filter((line) => !sated.includes(line));
  }
}

function coldestModel(lines: readonly Claim[]): string | null {
  const heats = new Map<string, number>();
  for (const { model, heat } of lines) heats.set(model, (heats.get(model) ?? 0) + heat);
  return [...heats].sort(([a, ofA], [b, ofB]) => ofA - ofB || byName(a, b))[0]?.[0] ?? null;
}

function binsOf(lines: readonly Claim[], countOf: (line: Claim) => number): number {
  return lines.reduce((sum, line) => sum + line.span * countOf(line), 0);
}

function byHeat(a: Claim, b: Claim): number {
  return a.heat - b.heat || byName(a.id, b.id);
}

function byName(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
