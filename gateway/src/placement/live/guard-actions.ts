import { nameKey } from "@farmgate/shared";
import type { WorkerEntry } from "../../catalog/types.ts";
import type { InflightByModel } from "../../routing/types.ts";
import { AT_ANOTHER, placedBy, type PlacementView, whyNoLoad } from "../decide-loads.ts";
import { fitOf, mayGoFor } from "../fit.ts";
import type { OrderedPair } from "../order-desk.ts";
import type { PoolAction } from "../pools/types.ts";
import { hasWarmCopy } from "../usable.ts";
import type { WantedCopies } from "../wanted-copies.ts";
import type { FarmReplica } from "./farm-bins.ts";

/** Orders that one action of a plan becomes, or why it becomes none. */
export type Guarded = {
  action: PoolAction;
  /** `nameKey` of the model, and the workers that it is about, the one that gets a copy last. */
  key: string;
  workers: readonly string[];
} & (
  | { order: "load"; load: OrderedPair; after: OrderedPair | null }
  | { order: "unload"; unload: OrderedPair }
  | { order: "move"; load: OrderedPair; old: OrderedPair }
  | { order: "none"; why: string }
);

export interface GuardView extends PlacementView {
  inflight: InflightByModel;
  /** `models.keepWarm`: a floor that no plan goes under. */
  wanted: readonly WantedCopies[];
  replicas: readonly FarmReplica[];
  /** Why a copy is not to be told to go after its last unload failed, in words that follow its worker's name. */
  whyNoUnload(worker: string, key: string): string | null;
  /** Why a copy stays for a while though it is to go, in words that follow its worker's name; null: it has stayed so. */
  whyHeld(replica: string): string | null;
  /** Whether the model was asked for within a day: its last copy is not given for what another model has already. */
  isInUse(key: string): boolean;
}

/**
 * What may be ordered of a plan now; what may not is left for a later one:
 *
 * 1. release: never a copy 1a. that is not loaded yet; 1b. that answers requests; 1c. that `keepWarm` wants; 1d. that is
 *    the last one of a model in use, unless the same plan wants its room for the first one of another; 1e. on a worker that is at another order, or
 *    that lately failed to let it go; 1f. before it was to go for a while, unless its room is wanted.
 * 2. activate: where `keepWarm` could load it too (see `whyNoLoad`), and 2a. no last copy of a model in use may have to
 *    go for it that this plan does not release. 2b. After what this plan releases there.
 * 3. move: as 2, then, once the new copy is there, the old one goes as by 1. Not at all while its worker does not let it
 *    go, or else each move would leave one copy more.
 * 4. A worker gets one order of a plan, or a release and the load that wants its room.
 */
export function guardActions(actions: readonly PoolAction[], view: GuardView): Guarded[] {
  const busy = new Set<string>();
  const gone: OrderedPair[] = [];
  const releases = actions.flatMap((action) => (action.kind === "release" ? [action] : []));
  const others = actions.flatMap((action) => (action.kind === "release" ? [] : [action]));
  const room = new Set(others.flatMap((action) => (action.kind === "activate" ? action.bins : action.to)));
  const isWarm = (key: string) => view.catalog.workers.some((entry) => hasWarmCopy(entry, key, view.now));
  const firsts = new Set(
    others.flatMap((action) => (action.kind === "activate" && !isWarm(action.model) ? action.bins : [])),
  );
  const guarded: Guarded[] = [];
  for (const action of releases) {
    const next = guardRelease(action, { room, firsts }, busy, gone, view);
    if (next.order === "unload") {
      busy.add(next.unload.worker);
      gone.push(next.unload);
    }
    guarded.push(next);
  }
  for (const action of others) {
    const next = guardLoad(action, busy, gone, view);
    if (next.order === "load" || next.order === "move") busy.add(next.load.worker);
    guarded.push(next);
  }
  return withoutDoubles(guarded);
}

/** Why the copy must not be told to go now, in words that follow its worker's name; null: it may. */
export function whyNoRelease(
  replica: FarmReplica,
  gone: readonly OrderedPair[],
  view: GuardView,
  wantsRoom = false,
): string | null {
  const { worker, model: key, state } = replica;
  // 1a
  if (state !== "active") return state === "draining" ? "is told so already" : "has not loaded it yet";
  // 1b
  if (inflightOf(replica, view) > 0) return "answers requests for it";
  const isGone = (name: string) => gone.some((pair) => pair.worker === name && pair.key === key);
  const rest = view.catalog.workers.filter(
    (entry) =>
      entry.config.name !== worker &&
      hasWarmCopy(entry, key, view.now) &&
      !isGone(entry.config.name) &&
      !isLeaving(view, entry.config.name, key),
  ).length;
  // 1c
  const floor = view.wanted.find((want) => want.key === key)?.copies ?? 0;
  if (rest < floor) return "has a copy that is to stay warm";
  // 1d
  if (rest === 0 && !wantsRoom && view.isInUse(key)) return "has the last copy of it, and it is in use";
  // 1e
  const isBusy = placedBy(view.orders).has(worker) || view.unloading?.has(worker) === true;
  return isBusy ? AT_ANOTHER : view.whyNoUnload(worker, key);
}

function guardRelease(
  action: Extract<PoolAction, { kind: "release" }>,
  { room, firsts }: Record<"room" | "firsts", ReadonlySet<string>>,
  busy: ReadonlySet<string>,
  gone: readonly OrderedPair[],
  view: GuardView,
): Guarded {
  const meant = view.replicas.find(({ id }) => id === action.replica);
  if (meant === undefined) return { action, key: "", workers: [], order: "none", why: "it is not there any more" };
  const { worker, model: key, name } = meant;
  const isWanted = room.has(worker);
  // 1f
  const held = isWanted ? null : view.whyHeld(meant.id);
  const why = busy.has(worker) ? AT_ANOTHER : (whyNoRelease(meant, gone, view, firsts.has(worker)) ?? held);
  if (why !== null) return { action, key, workers: [worker], order: "none", why: `${worker} ${why}` };
  return { action, key, workers: [worker], order: "unload", unload: { worker, key, model: name } };
}

function guardLoad(
  action: Exclude<PoolAction, { kind: "release" }>,
  busy: ReadonlySet<string>,
  gone: readonly OrderedPair[],
  view: GuardView,
): Guarded {
  const source = action.kind === "move" ? view.replicas.find(({ id }) => id === action.replica) : undefined;
  const key = action.kind === "activate" ? action.model : (source?.model ?? "");
  const worker = (action.kind === "activate" ? action.bins : action.to)[0] ?? "";
  const workers = source === undefined ? [worker] : [source.worker, worker];
  const none = (why: string): Guarded => ({ action, key, workers, order: "none", why });
  const entry = view.catalog.workers.find(({ config }) => config.name === worker);
  const model = entry?.byKey.get(key);
  if (entry === undefined || model === undefined) return none(`${worker} does not list it`);
  if (action.kind === "move" && source === undefined) return none("it is not there any more");
  const after = gone.find((pair) => pair.worker === worker) ?? null;
  // 4
  if (busy.has(worker) && (after === null || action.kind === "move")) return none(`${worker} ${AT_ANOTHER}`);
  // 2
  const want = { key, name: model.id, copies: 1 };
  const others = view.wanted.filter((other) => other.key !== key);
  const why = whyNoLoad(entry, want, others, placedBy(view.orders), view);
  if (why !== null) return none(`${worker} ${why}`);
  // 2a
  const last = fitOf(entry, model) === "evicts" ? lastCopyToGo(entry, key, gone, view) : null;
  if (last !== null) return none(`${worker} might have to take out ${last}, of which it has the last copy in use`);
  const load = { worker, key, model: model.id };
  // 3
  if (source !== undefined) {
    const whyStays = view.whyNoUnload(source.worker, key);
    if (whyStays !== null) return none(`${source.worker} ${whyStays}`);
    const old = { worker: source.worker, key, model: source.name };
    return { action, key, workers, order: "move", load, old };
  }
  // 2b
  return { action, key, workers, order: "load", load, after };
}

/** A model in use of which the worker has the last warm copy, that may have to go for this one; null: none. */
function lastCopyToGo(entry: WorkerEntry, key: string, gone: readonly OrderedPair[], view: GuardView): string | null {
  const model = entry.byKey.get(key);
  if (model === undefined) return null;
  const { name } = entry.config;
  for (const other of mayGoFor(entry, model)) {
    const otherKey = view.catalog.union.get(nameKey(other.id))?.key ?? nameKey(other.id);
    if (!view.isInUse(otherKey) || gone.some((pair) => pair.worker === name && pair.key === otherKey)) continue;
    const elsewhere = view.catalog.workers.some(
      (rest) => rest !== entry && hasWarmCopy(rest, otherKey, view.now) && !isLeaving(view, rest.config.name, otherKey),
    );
    if (!elsewhere) return other.id;
  }
  return null;
}

function isLeaving({ unloading }: GuardView, worker: string, key: string): boolean {
  const pair = unloading?.get(worker) as Partial<OrderedPair> | undefined;
  return pair?.key === key;
}

/** Requests for the copy under way there, by whichever of its names. */
function inflightOf({ worker, name }: FarmReplica, { catalog, inflight }: GuardView): number {
  const entry = catalog.workers.find(({ config }) => config.name === worker);
  let sum = 0;
  for (const [asked, count] of inflight.pairs(worker)) {
    const model = entry?.byKey.get(asked) ?? entry?.byAlias.get(asked);
    if (model === undefined || model.id === name) sum += count;
  }
  return sum;
}

/** The release of a copy whose room a load of the plan wants is part of that load. */
function withoutDoubles(guarded: readonly Guarded[]): Guarded[] {
  const first = new Set(guarded.flatMap((next) => (next.order === "load" && next.after ? [next.after] : [])));
  return guarded.filter((next) => next.order !== "unload" || !first.has(next.unload));
}
