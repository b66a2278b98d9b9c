import type { Catalog } from "../../catalog/types.ts";
import { betterPlace } from "./better-place.ts";
import { replicaId } from "./farm-bins.ts";
import type { Guarded } from "./guard-actions.ts";
import type { Observations } from "./observations.ts";
import type { MadePlan } from "./plan-with.ts";
import type { Reach } from "./reach.ts";
import type { Regrets } from "./regrets.ts";
import type { PlacementSettings } from "./settings.ts";
import { type Worth, worthwhile } from "./worthwhile.ts";

export interface Weighed {
  plan: MadePlan;
  seen: Observations;
  regrets: Regrets;
  settings: Pick<PlacementSettings, "window" | "share">;
}

/** Of a model whose load was never measured, in milliseconds. */
const RELOAD_MS = 30_000;
const NOTHING = { requests: 0, onTime: 0 };

/** What of the plan is worth it by what was done before and by how fast workers are, with what the plan does not see. */
export function weighPlan(
  { plan, seen, regrets, settings }: Weighed,
  catalog: Catalog,
  reach: (worker: string, key: string) => Reach,
): Worth {
  const { at: now, models } = plan;
  const { share, window } = settings;
  const { replicas } = plan.bins;
  const there = new Set(replicas.flatMap(({ id, state }) => (state === "draining" ? [] : [id])));
  regrets.look({
    now,
    windowMs: window,
    share,
    judged: (key) => seen.of(key)?.judged ?? NOTHING,
    isThere: (worker, key) => there.has(replicaId(worker, key)),
  });
  const lastHour = (key: string) => seen.of(key)?.lastHour(now) ?? null;
  const better = betterPlace({ catalog, replicas, models, reach, share, lastHour });
  return worthwhile(better === null ? plan.actions : [...plan.actions, better], {
    replicas,
    reach,
    whyNotAgain: (key) => regrets.whyNotAgain(key, now),
    isTrying: (key) => regrets.isTrying(key),
    isLate: (key) => (lastHour(key)?.share ?? 1) < share,
  });
}

/** A further copy that is ordered is a trial: what it brings is looked at later. */
export function noteTrial({ plan, seen, regrets }: Omit<Weighed, "settings">, guarded: Guarded): void {
  if (guarded.order !== "load") return;
  const { load } = guarded;
  if (!plan.bins.replicas.some(({ model, state }) => model === load.key && state === "active")) return;
  const reloadMs = plan.models.find(({ id }) => id === load.key)?.reloadMs ?? RELOAD_MS;
  const figures = seen.of(load.key);
  const then = { before: figures?.lastHour(plan.at) ?? null, judged: figures?.judged ?? NOTHING };
  regrets.added(load, reloadMs, then, plan.at);
}
