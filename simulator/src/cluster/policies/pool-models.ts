import type { ModelLoad, ModelView } from "@farmgate/gateway/policies";
import type { ClusterView } from "../types.ts";
import { lineName, modelName } from "./line-names.ts";
import type { Oracles } from "./oracles.ts";
import { spanOf } from "./spans.ts";
import { recentLoad } from "./recent-load.ts";

/** Published: heat is of 15 s, and the elastic pool looks at 3 s. */
const HEAT_MS = 15_000;
const QUICK_MS = 3_000;
/** Of a span's compute or bandwidth, or of its memory for requests, that one stable replica is given at most. */
const FULL = 0.9;
const MOST_PARTS = 32;
/** Prompts take compute and answers bandwidth: replicas that would use less than this share of theirs are too many. */
const LEAST_USE = 0.4;

/** An application as the pools see it: stable replicas do both, the elastic pool has a line for prompts and one for answers. */
export function pooledModel(app: number, view: ClusterView, oracles: Oracles): ModelView {
  const load = recentLoad(view, app, HEAT_MS);
  const safe = quickLoad(app, view, load);
  const whole = stableModel(app, view, oracles, load, 0);
  const { compute, bandwidth } = oracles.demand(app, view, safe);
  const line = (role: "prefill" | "decode"): ModelView => ({
    ...whole,
    id: lineName(app, role),
    enough: Math.max(1, Math.ceil((role === "prefill" ? compute : bandwidth) / (LEAST_USE * whole.span))),
    onTime: (replicas) => oracles.onTime(app, role, view, safe, replicas),
  });
  return { ...whole, lines: [line("prefill"), line("decode")] };
}

/** An application as so many stable replicas, each with its part of the load. */
export function stableParts(app: number, view: ClusterView, oracles: Oracles, parts: number): ModelView[] {
  const load = recentLoad(view, app, HEAT_MS);
  const ofOne = { ...load, requestsPerSecond: load.requestsPerSecond / parts };
  return Array.from({ length: parts }, (_, part) => stableModel(app, view, oracles, ofOne, part));
}

/** The fewest equal parts of an application's load that each fit on a span of devices by themselves. */
export function partsNeeded(app: number, view: ClusterView, oracles: Oracles): number {
  const application = view.applications[app];
  if (application === undefined) return 1;
  const span = spanOf(application.model);
  const load = recentLoad(view, app, HEAT_MS);
  for (let parts = 1; parts < MOST_PARTS; parts += 1) {
    const ofOne = { ...load, requestsPerSecond: load.requestsPerSecond / parts };
    const { memory, compute, bandwidth } = oracles.demand(app, view, ofOne);
    const fits = memory <= FULL * span * view.shape.deviceMemory;
    if (fits && Math.max(compute, bandwidth) <= FULL * span) return parts;
  }
  return MOST_PARTS;
}

function stableModel(app: number, view: ClusterView, oracles: Oracles, load: ModelLoad, part: number): ModelView {
  const application = view.applications[app];
  if (application === undefined) throw new RangeError(`there is no application ${app}`);
  const span = spanOf(application.model);
  const { memory, compute, bandwidth } = oracles.demand(app, view, load);
  // More than a whole span cannot be given: it is what the replica then has.
  const most = FULL * span;
  return {
    id: modelName(app, part),
    span,
    load,
    heat: load.requestsPerSecond * (load.inputMean + load.outputMean),
    demand: {
      memory: Math.min(memory, most * view.shape.deviceMemory),
      compute: Math.min(compute, most),
      bandwidth: Math.min(bandwidth, most),
    },
    onTime: (replicas) => oracles.onTime(app, "both", view, load, replicas),
    allowed: null,
  };
}

/** A rise counts at once, a fall when it has lasted. */
function quickLoad(app: number, view: ClusterView, load: ModelLoad): ModelLoad {
  const { requestsPerSecond } = recentLoad(view, app, QUICK_MS);
  return { ...load, requestsPerSecond: Math.max(load.requestsPerSecond, requestsPerSecond) };
}
