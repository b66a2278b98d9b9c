import { lower, shareOut } from "@farmgate/gateway/policies";
import type { ClusterAction, ClusterPolicy, ClusterView } from "../types.ts";
import { ORACLES, Oracles } from "./oracles.ts";
import { createPrism, PRISM } from "./prism.ts";
import { spanOf } from "./spans.ts";
import { recentLoad } from "./recent-load.ts";

/** As the two pools': the share on time that is aimed at, on the safe side, and how often what is looked at. */
const TARGET = 0.95;
const LOAD_MS = 15_000;
const LEARN_MS = 5_000;
const SHRINK_MS = 1_000;
/** More than it should have for so long: one leaves. */
const HOLD_MS = 30_000;

/**
 * The published ablation: Prism's sharing, placing and order, and in place of its replicas one by one those of a global
 * allocator: as many as the Oracle says are needed, shared out where devices are too few.
 */
export function createPrismGlobal(seed: number): ClusterPolicy {
  let allocator: Allocator | null = null;
  const of = (view: ClusterView) => {
    allocator ??= new Allocator(view, seed);
    return allocator;
  };
  const prism = createPrism("prism-global", PRISM, (app, _now, view) => of(view).target(app, view));
  return {
    ...prism,
    loops: [
      ...prism.loops,
      { everyMs: SHRINK_MS, run: (view) => of(view).shrink(view) },
      { everyMs: LEARN_MS, run: (view) => of(view).learn(view) },
    ],
  };
}

class Allocator {
  readonly #oracles: Oracles;
  #at = Number.NaN;
  #counts: ReadonlyMap<string, number> = new Map();
  /** By application. */
  readonly #surplusSince = new Map<number, number>();

  constructor(view: ClusterView, seed: number) {
    this.#oracles = new Oracles(view, { ...ORACLES, seed });
  }

  target(app: number, view: ClusterView): number {
    if (view.now !== this.#at) this.#counts = this.#share(view);
    this.#at = view.now;
    return this.#counts.get(String(app)) ?? 0;
  }

  shrink(view: ClusterView): ClusterAction[] {
    return [...view.applications.keys()].flatMap((app) => {
      const mine = view.instancesOf(app).filter(({ state }) => state === "active");
      if (mine.length <= Math.max(1, this.target(app, view))) {
        this.#surplusSince.delete(app);
        return [];
      }
      const since = this.#surplusSince.get(app) ?? view.now;
      this.#surplusSince.set(app, since);
      if (view.now - since < HOLD_MS) return [];
      const [least] = [...mine].sort((a, b) => a.running - b.running || b.id - a.id);
      return least === undefined ? [] : [{ kind: "release", instance: least.id, reason: "fewer are enough" }];
    });
  }

  learn(view: ClusterView): ClusterAction[] {
    this.#oracles.learn(view);
    return [];
  }

  #share(view: ClusterView): ReadonlyMap<string, number> {
    const devices = view.shape.hosts * view.shape.devicesPerHost;
    const claims = [...view.applications.entries()].flatMap(([app, application]) => {
      const load = recentLoad(view, app, LOAD_MS);
      if (load.requestsPerSecond === 0) return [];
      const span = spanOf(application.model);
      const wanted = this.#wanted(app, view, Math.floor(devices / span));
      const heat = load.requestsPerSecond * (load.inputMean + load.outputMean);
      return [{ id: String(app), model: String(app), span, wanted, heat, weight: wanted * span }];
    });
    return shareOut(claims, devices).counts;
  }

  /** The smallest number that meets the target; of those that nearly reach the best share where none does. */
  #wanted(app: number, view: ClusterView, most: number): number {
    const load = recentLoad(view, app, LOAD_MS);
    let best = 1;
    let bestShare = 0;
    for (let replicas = 1; replicas <= most; replicas += 1) {
      const share = lower(this.#oracles.onTime(app, "both", view, load, replicas), ORACLES.sigmas);
      if (share >= TARGET) return replicas;
      if (share <= bestShare + 0.01) continue;
      best = replicas;
      bestShare = share;
    }
    return best;
  }
}
