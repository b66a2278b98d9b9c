import { idleHold } from "./idle-hold.ts";
import type { PoolRules } from "./rules.ts";
import type { ModelView, PoolsState } from "./types.ts";

/** `active`: it has load. `resting`: it has none, but keeps its replicas for a while. `idle`: its replicas may go. */
type Use = "active" | "resting" | "idle";

export interface UsedModel {
  view: ModelView;
  use: Use;
}

/** How each model is used, and the new memory of since when it is not. */
export function usesOf(
  models: readonly ModelView[],
  { idleSince }: PoolsState,
  rules: PoolRules,
  now: number,
): { used: readonly UsedModel[]; idleSince: ReadonlyMap<string, number> } {
  const next = new Map<string, number>();
  const used = models.map((view): UsedModel => {
    if (view.heat > 0 || view.load.requestsPerSecond > 0) return { view, use: "active" };
    const since = idleSince.get(view.id) ?? now;
    next.set(view.id, since);
    const hold = idleHold(view.reloadMs ?? 0, { holdMs: rules.idleMs, reloads: rules.idleReloads });
    return { view, use: now - since >= hold ? "idle" : "resting" };
  });
  return { used, idleSince: next };
}

/** The parts by which the elastic pool serves it. */
export function linesOf(view: ModelView): readonly ModelView[] {
  return view.lines ?? [view];
}
