import type { PoolAction } from "../pools/types.ts";
import { AS_FAST } from "./as-fast.ts";
import type { FarmReplica } from "./farm-bins.ts";
import type { Guarded } from "./guard-actions.ts";
import type { Reach } from "./reach.ts";

/** What of a plan is worth it, and what is not, with why. */
export interface Worth {
  actions: readonly PoolAction[];
  turnedDown: readonly Guarded[];
}

export interface WorthView {
  replicas: readonly FarmReplica[];
  reach(worker: string, key: string): Reach;
  /** Why a further copy of the model is not added again yet; null: it may be. */
  whyNotAgain(key: string): string | null;
  /** A further copy of it was added, and what it brings is not known yet. */
  isTrying(key: string): boolean;
  /** By the last hour. */
  isLate(key: string): boolean;
}

/**
 * Why an action of a plan is not worth it in a farm of unequal workers, in words that follow the target's name; null: it
 * may be.
 *
 * 1. A further copy, beside one that serves: 1a. where a copy helps nobody (`reaches`); 1b. when the last ones brought
 *    nothing (`Regrets`).
 * 2. A move, which leaves nothing to fall back on: 2a. where a copy helps nobody; 2b. to a worker of which nobody knows
 *    whether it is as fast, or that is not. 2c. From where it is late it may go anywhere else.
 * 3. A release whose room no load of the plan wants (`room`): 3a. while a further copy of the model is being tried;
 *    3b. of a copy that may help, while the model is late. An empty worker is worth nothing.
 * 4. A first copy is worth it.
 */
function whyNotWorth(action: PoolAction, room: ReadonlySet<string>, view: WorthView): string | null {
  if (action.kind === "release") {
    const replica = view.replicas.find(({ id }) => id === action.replica);
    if (replica === undefined || room.has(replica.worker)) return null;
    // 3a
    if (view.isTrying(replica.model)) return "keeps it while a further copy of it is being tried";
    // 3b
    const helps = view.isLate(replica.model) && view.reach(replica.worker, replica.model).why === null;
    return helps ? "keeps it, since it is late and nobody wants its room" : null;
  }
  if (action.kind === "activate") {
    const worker = action.bins[0] ?? "";
    const others = view.replicas.some(
      ({ model, worker: name, state }) => model === action.model && state === "active" && name !== worker,
    );
    // 1, 4
    return others ? (view.reach(worker, action.model).why ?? view.whyNotAgain(action.model)) : null;
  }
  const source = view.replicas.find(({ id }) => id === action.replica);
  if (source === undefined) return null;
  const there = view.reach(action.to[0] ?? "", source.model);
  // 2a
  if (there.why !== null) return there.why;
  const here = view.reach(source.worker, source.model);
  // 2c
  if (here.why !== null) return null;
  // 2b
  if (there.firstMs === null || here.firstMs === null) return `may be slower with it than ${source.worker}`;
  return there.firstMs > AS_FAST * here.firstMs ? `is slower with it than ${source.worker}` : null;
}

const NO_ROOM: ReadonlySet<string> = new Set();

/** Workers whose room a load of the plan wants. */
function roomOf(actions: readonly PoolAction[]): ReadonlySet<string> {
  return new Set(
    actions.flatMap((action) =>
      action.kind === "release" ? [] : action.kind === "activate" ? action.bins : action.to,
    ),
  );
}

/**
 * The same releases, but that of several copies of a model the slowest go: a plan for workers that are alike picks by
 * other things. What goes for the room that a load of the plan wants stays as planned.
 */
function slowestFirst(actions: readonly PoolAction[], view: WorthView): readonly PoolAction[] {
  const { replicas } = view;
  const room = roomOf(actions);
  const byId = new Map(replicas.map((replica) => [replica.id, replica]));
  const isOpen = ({ worker, state }: FarmReplica) => state === "active" && !room.has(worker);
  const going = new Set(actions.flatMap((action) => (action.kind === "release" ? action.replica : [])));
  const slowness = ({ worker, model }: FarmReplica) => view.reach(worker, model).firstMs ?? 0;
  const swapped = actions.map((action): PoolAction => {
    const meant = action.kind === "release" ? byId.get(action.replica) : undefined;
    // Nobody knows how slow it is.
    if (meant === undefined || !isOpen(meant) || slowness(meant) === 0) return action;
    let slowest = meant;
    for (const other of replicas) {
      if (other.model !== meant.model || going.has(other.id) || !isOpen(other)) continue;
      if (slowness(other) > AS_FAST * slowness(slowest)) slowest = other;
    }
    going.delete(meant.id);
    going.add(slowest.id);
    return action.kind === "release" ? { ...action, replica: slowest.id } : action;
  });
  const slownessOf = (action: PoolAction) => {
    const meant = action.kind === "release" ? byId.get(action.replica) : undefined;
    return meant === undefined ? 0 : slowness(meant);
  };
  return [...swapped].sort((a, b) => slownessOf(b) - slownessOf(a));
}

/** What of a plan is worth it, the slowest releases first, and what is not. */
export function worthwhile(planned: readonly PoolAction[], view: WorthView): Worth {
  const loads: PoolAction[] = [];
  const turnedDown: Guarded[] = [];
  const turnDown = (action: PoolAction, why: string) => {
    const source = action.kind === "activate" ? undefined : view.replicas.find(({ id }) => id === action.replica);
    const key = action.kind === "activate" ? action.model : (source?.model ?? "");
    const to = action.kind === "release" ? [] : action.kind === "activate" ? action.bins : action.to;
    const workers = [...(source === undefined ? [] : [source.worker]), ...to];
    turnedDown.push({ action, key, workers, order: "none", why: `${workers.at(-1) ?? ""} ${why}` });
  };
  for (const action of planned) {
    if (action.kind === "release") continue;
    const why = whyNotWorth(action, NO_ROOM, view);
    if (why === null) loads.push(action);
    else turnDown(action, why);
  }
  // What is turned down wants no room.
  const room = roomOf(loads);
  const releases: PoolAction[] = [];
  const all = planned.filter(({ kind }) => kind === "release");
  for (const action of slowestFirst([...all, ...loads], view)) {
    if (action.kind !== "release") continue;
    const why = whyNotWorth(action, room, view);
    if (why === null) releases.push(action);
    else turnDown(action, why);
  }
  return { actions: [...releases, ...loads], turnedDown };
}
