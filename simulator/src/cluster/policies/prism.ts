import type { ClusterAction, ClusterPolicy, ClusterView, InstanceView } from "../types.ts";
import { KvPressure } from "./kv-pressure.ts";
import { recentLoad } from "./recent-load.ts";

export interface PrismOptions {
  /** An instance with nothing to do for so long leaves. */
  idleMs: number;
  /** A replica more, when a larger share of an application's requests is late. */
  violation: number;
  /** Over so long are rates and violations taken. */
  windowMs: number;
  /** Also when so many requests wait for one of its instances. */
  queue: number;
  /** An instance moves only when that lowers its pressure by a larger share. */
  moveGain: number;
  /** Moves of one round at most. */
  moves: number;
  /** Share of a device's memory that weights leave free. */
  reserve: number;
  /** Models that share a device at most: the cluster's limit, the same for all policies. */
  maxModels: number;
  /** An application without any instance takes the place of one that has been idle for so long. */
  yieldMs: number;
}

/** Published: 50 s, 10 % and 10 requests; the others are ours. */
export const PRISM: PrismOptions = {
  idleMs: 50_000,
  violation: 0.1,
  windowMs: 15_000,
  queue: 10,
  moveGain: 0.3,
  moves: 4,
  reserve: 0.2,
  maxModels: 2,
  yieldMs: 5_000,
};

/** How many instances an application should have; `now`: how many it has. */
export type ReplicaTarget = (app: number, now: number, view: ClusterView) => number;

/**
 * After Prism: models share devices, each instance where the pressure on the memory for requests is least; requests by
 * slack; replicas one by one where requests are late; idle ones leave; activation on demand.
 * @param target Of another allocator; absent: its own rule.
 */
export function createPrism(
  name = "prism-like",
  options: PrismOptions = PRISM,
  target: ReplicaTarget = (app, now, view) => ownTarget(app, now, view, options),
): ClusterPolicy {
  return {
    name,
    dispatch: "least-slack",
    start: () => [],
    loops: [
      { everyMs: 1_000, run: (view) => [...leaveIdle(view, options), ...scale(view, options, target)] },
      { everyMs: 10_000, run: (view) => rebalance(view, options) },
    ],
    onCold: (app, view) => new PrismPlan(view, options).activateCold(app),
  };
}

function ownTarget(app: number, now: number, view: ClusterView, options: PrismOptions): number {
  const onTime = view.onTime(app, options.windowMs);
  const late = onTime !== null && onTime < 1 - options.violation;
  return late || view.waiting(app) > options.queue * Math.max(1, now) ? now + 1 : now;
}

/** Rate / limit, by the limit in seconds. */
function wantOf(app: number, view: ClusterView, options: PrismOptions): number {
  const limit = view.applications[app]?.ttftMs ?? 1_000;
  return recentLoad(view, app, options.windowMs).requestsPerSecond / (limit / 1000);
}

function leaveIdle(view: ClusterView, options: PrismOptions): ClusterAction[] {
  return view.instances
    .filter((instance) => isIdle(instance, view, options.idleMs))
    .map((instance) => ({ kind: "release", instance: instance.id, reason: "idle" }));
}

function isIdle(instance: InstanceView, view: ClusterView, forMs: number): boolean {
  const { idleSince, state, app } = instance;
  return state === "active" && idleSince !== null && view.now - idleSince >= forMs && view.waiting(app) === 0;
}

function scale(view: ClusterView, options: PrismOptions, target: ReplicaTarget): ClusterAction[] {
  const plan = new PrismPlan(view, options);
  const wants = view.applications.map((_, app) => wantOf(app, view, options));
  const order = wants.map((_, app) => app).sort((a, b) => (wants[b] ?? 0) - (wants[a] ?? 0) || a - b);
  return order.flatMap((app) => {
    const mine = view.instancesOf(app).filter((instance) => instance.state !== "draining");
    if ((wants[app] ?? 0) === 0 && view.waiting(app) === 0) return [];
    // What was decided before has to show first.
    if (mine.some((instance) => instance.state === "starting")) return [];
    const missing = target(app, mine.length, view) - mine.length;
    return Array.from({ length: Math.max(0, missing) }, () => plan.activate(app, "its requests are late")).flat();
  });
}

function rebalance(view: ClusterView, options: PrismOptions): ClusterAction[] {
  const plan = new PrismPlan(view, options);
  const active = view.instances.filter((instance) => instance.state === "active");
  const byWant = active.sort((a, b) => plan.weightOf(b.app) - plan.weightOf(a.app) || a.id - b.id);
  const actions: ClusterAction[] = [];
  for (const instance of byWant) {
    if (actions.length >= options.moves) break;
    actions.push(...plan.move(instance));
  }
  return actions;
}

/** One round of decisions, each of which sees those before it. */
class PrismPlan {
  readonly #view: ClusterView;
  readonly #options: PrismOptions;
  readonly #weights: readonly number[];
  readonly #pressure: KvPressure;
  /** Applications that this round puts on a device. */
  readonly #added = new Map<number, readonly number[]>();

  constructor(view: ClusterView, options: PrismOptions) {
    this.#view = view;
    this.#options = options;
    this.#weights = view.applications.map(
      (_, app) => wantOf(app, view, options) / Math.max(1, view.instancesOf(app).length),
    );
    this.#pressure = new KvPressure(view, (app) => this.weightOf(app), options.reserve);
  }

  /** An instance's part of its application's want. */
  weightOf(app: number): number {
    return this.#weights[app] ?? 0;
  }

  /** On the least crowded span that has room. */
  activate(app: number, reason: string): ClusterAction[] {
    const weight = this.weightOf(app);
    const best = this.#pressure.best(app, weight, (devices) => this.#isBarred(app, devices));
    if (best === null) return [];
    this.#pressure.add(app, best.devices, weight);
    for (const device of best.devices) this.#added.set(device, [...(this.#added.get(device) ?? []), app]);
    return [{ kind: "activate", app, role: "both", devices: best.devices, reason }];
  }

  /** Where no span has room: in the place of the instance that is idle for longest, once that has left. */
  activateCold(app: number): ClusterAction[] {
    const actions = this.activate(app, "a request came for it");
    if (actions.length > 0) return actions;
    const idle = this.#longestIdle(app);
    return idle === null ? [] : [{ kind: "release", instance: idle.id, reason: "another needs its place" }];
  }

  move(instance: InstanceView): ClusterAction[] {
    const weight = this.weightOf(instance.app);
    this.#pressure.remove(instance.app, instance.devices, weight);
    const here = this.#pressure.withOneMore(instance.app, instance.devices, weight) ?? Infinity;
    const best = this.#pressure.best(instance.app, weight, (devices) => this.#isBarred(instance.app, devices));
    const gain = best === null || here === 0 ? 0 : (here - best.pressure) / here;
    if (best === null || gain <= this.#options.moveGain) {
      this.#pressure.add(instance.app, instance.devices, weight);
      return [];
    }
    this.#pressure.add(instance.app, best.devices, weight);
    for (const device of best.devices) this.#added.set(device, [...(this.#added.get(device) ?? []), instance.app]);
    return [{ kind: "move", instance: instance.id, to: best.devices, reason: "less pressure there" }];
  }

  /** A second instance of the same model on the same devices would help nobody, and not more than so many share. */
  #isBarred(app: number, devices: readonly number[]): boolean {
    return devices.some((device) => {
      const added = this.#added.get(device) ?? [];
      const here = this.#view.onDevice(device);
      if (here.some((other) => other.app === app) || added.includes(app)) return true;
      const staying = here.filter(({ state }) => state !== "draining").length;
      return staying + added.length >= this.#options.maxModels;
    });
  }

  #longestIdle(app: number): InstanceView | null {
    let longest: InstanceView | null = null;
    for (const instance of this.#view.instances) {
      if (instance.app === app || !isIdle(instance, this.#view, this.#options.yieldMs)) continue;
      if (longest === null || (instance.idleSince ?? 0) < (longest.idleSince ?? 0)) longest = instance;
    }
    return longest;
  }
}
