import type { ClusterAction, ClusterPolicy, ClusterView, InstanceView, Role } from "../types.ts";
import { FreeDevices, spanOf } from "./spans.ts";
import { busyInstances, speedsOf } from "./speeds.ts";
import { recentLoad } from "./recent-load.ts";

type Line = Exclude<Role, "both">;

export interface BlitzscaleOptions {
  /** Over so long is the load taken. */
  windowMs: number;
  /** An instance should be busy for at most this share of its time. */
  utilisation: number;
  /** Instances that were not needed for so long leave. */
  idleMs: number;
}

/** All ours: the published system scales at a bound of load and leaves the bound open. */
const BLITZSCALE: BlitzscaleOptions = { windowMs: 3_000, utilisation: 0.8, idleMs: 15_000 };

/**
 * After BlitzScale: whole devices per model, prefill and decode apart, as many of each as the load keeps busy; new ones
 * serve while their weights still arrive from a peer. Every application scales for itself: whoever asks first has the
 * devices.
 */
export function createBlitzscale(options: BlitzscaleOptions = BLITZSCALE): ClusterPolicy {
  /** Since when an application has had more of a role than it needs; one key per application and role. */
  const surplusSince = new Map<string, number>();
  const run = (view: ClusterView, apps: readonly number[]): ClusterAction[] => {
    const free = new FreeDevices(view);
    return apps.flatMap((app) => scale(app, view, free, options, surplusSince));
  };
  return {
    name: "blitzscale-like",
    dispatch: "first-come",
    start: () => [],
    loops: [
      {
        everyMs: 500,
        run: (view) =>
          run(
            view,
            view.applications.map((_, app) => app),
          ),
      },
    ],
    onCold: (app, view) => run(view, [app]),
  };
}

function scale(
  app: number,
  view: ClusterView,
  free: FreeDevices,
  options: BlitzscaleOptions,
  surplusSince: Map<string, number>,
): ClusterAction[] {
  const application = view.applications[app];
  if (application === undefined) return [];
  const needs = needsOf(app, view, options);
  const mineOf = (role: Line) => view.instancesOf(app).filter((it) => it.role === role && it.state !== "draining");
  const counts = { prefill: mineOf("prefill").length, decode: mineOf("decode").length };
  const actions: ClusterAction[] = [];
  for (;;) {
    // Where devices are too few, both roles get as large a part of what they need.
    const role = counts.prefill / needs.prefill < counts.decode / needs.decode ? "prefill" : "decode";
    if (!(counts[role] < needs[role])) break;
    const devices = free.take(spanOf(application.model));
    if (devices === null) break;
    counts[role] += 1;
    actions.push({ kind: "activate", app, role, devices, live: true, reason: "its load" });
  }
  for (const role of ["prefill", "decode"] as const) {
    const key = `${app}.${role}`;
    const mine = mineOf(role);
    if (mine.length <= needs[role]) {
      surplusSince.delete(key);
      continue;
    }
    const since = surplusSince.get(key) ?? view.now;
    surplusSince.set(key, since);
    if (view.now - since >= options.idleMs) actions.push(...releaseLeastBusy(mine, mine.length - needs[role]));
  }
  return actions;
}

/** For the load of late, and for what waits to be read within half its limit. */
function needsOf(app: number, view: ClusterView, options: BlitzscaleOptions): Record<Line, number> {
  const application = view.applications[app];
  const load = recentLoad(view, app, options.windowMs);
  const waiting = view.waiting(app);
  if (application === undefined || (load.requestsPerSecond === 0 && waiting === 0)) return { prefill: 0, decode: 0 };
  const busy = busyInstances(view.shape, application, load);
  const { prefill } = speedsOf(view.shape, application, load);
  const queue = (waiting * load.inputMean) / (prefill * (application.ttftMs / 2000));
  return {
    prefill: Math.max(1, Math.ceil(busy.prefill / options.utilisation + queue)),
    decode: Math.max(1, Math.ceil(busy.decode / options.utilisation)),
  };
}

function releaseLeastBusy(mine: readonly InstanceView[], count: number): ClusterAction[] {
  return [...mine]
    .sort((a, b) => a.running - b.running || b.id - a.id)
    .slice(0, count)
    .map((instance) => ({ kind: "release", instance: instance.id, reason: "its load went" }));
}
