import type { OscillationRules } from "./rules.ts";
import type { ElasticPlan } from "./types.ts";

export interface Judgement {
  accepted: boolean;
  reason: string;
}

/**
 * Whether a new plan of counts takes the place of the last one (`plans`, the newest first):
 *
 * 1. Yes when the set of lines changed, or the last counts do not fit any more.
 * 2. Yes when a heat jumped, or a count moved far.
 * 3. No when the last plan is young, all heats moved little, and all counts by one at most.
 * 4. No when it takes back what the last plan changed against the one before it, and both are young.
 * 5. Else yes.
 */
export function judgePlan(
  next: ElasticPlan,
  plans: readonly ElasticPlan[],
  lastFits: boolean,
  rules: OscillationRules,
): Judgement {
  const [last, before] = plans;
  // 1
  if (last === undefined) return { accepted: true, reason: "the first plan" };
  if (!isSameSet(next.counts, last.counts)) return { accepted: true, reason: "other models are in the elastic pool" };
  if (!lastFits) return { accepted: true, reason: "there are fewer bins than the last plan needs" };
  // 2
  const heatMove = Math.max(0, ...[...next.heats].map(([id, heat]) => moveOf(last.heats.get(id) ?? 0, heat, rules)));
  if (heatMove > rules.heatJump) return { accepted: true, reason: `a heat moved by ${percent(heatMove)}` };
  const countMove = Math.max(0, ...[...next.counts].map(([id, count]) => Math.abs(count - (last.counts.get(id) ?? 0))));
  if (countMove >= rules.countJump) return { accepted: true, reason: `a count moved by ${countMove}` };
  // 3
  const age = next.at - last.at;
  if (age < rules.windowMs && heatMove <= rules.heatNoise && countMove <= rules.countNoise) {
    return { accepted: false, reason: `no heat moved by more than ${percent(heatMove)} since the last plan` };
  }
  // 4
  if (before !== undefined && next.at - before.at < rules.windowMs && turnsBack(next, last, before)) {
    return { accepted: false, reason: "it would take back what the last plan changed" };
  }
  // 5
  return { accepted: true, reason: "counts moved" };
}

function isSameSet(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean {
  if (a.size !== b.size) return false;
  for (const id of a.keys()) if (!b.has(id)) return false;
  return true;
}

function moveOf(from: number, to: number, { heatFloor }: OscillationRules): number {
  const before = Math.max(from, heatFloor);
  return Math.abs(Math.max(to, heatFloor) - before) / before;
}

function turnsBack(next: ElasticPlan, last: ElasticPlan, before: ElasticPlan): boolean {
  let product = 0;
  for (const [id, count] of last.counts) {
    const earlier = before.counts.get(id);
    if (earlier !== undefined) product += ((next.counts.get(id) ?? count) - count) * (count - earlier);
  }
  return product < 0;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
