import type { ClusterAction, ClusterPolicy, ClusterView } from "../types.ts";
import { shareReplicas } from "./share-replicas.ts";
import { FreeDevices, spanOf } from "./spans.ts";

/**
 * Every application keeps the devices that it has from the start; prefill and decode on the same ones, requests in
 * order of arrival.
 * @param demand What each application will need on average, in devices; null: the same for all.
 */
export function createStatic(demand: readonly number[] | null): ClusterPolicy {
  return {
    name: demand === null ? "static" : "static-by-demand",
    dispatch: "first-come",
    start: (view) => fix(view, demand),
    loops: [],
  };
}

function fix(view: ClusterView, demand: readonly number[] | null): ClusterAction[] {
  const spans = view.applications.map((application) => spanOf(application.model));
  const devices = view.shape.hosts * view.shape.devicesPerHost;
  const counts = shareReplicas(devices, spans, demand ?? spans.map(() => 1));
  const free = new FreeDevices(view);
  const actions: ClusterAction[] = [];
  // The widest first: what is left between them is always whole spans of the narrower ones.
  const order = spans.map((_, app) => app).sort((a, b) => (spans[b] ?? 0) - (spans[a] ?? 0) || a - b);
  for (const app of order) {
    for (let i = 0; i < (counts[app] ?? 0); i += 1) {
      const place = free.take(spans[app] ?? 1);
      if (place === null) break;
      actions.push({ kind: "activate", app, role: "both", devices: place, reason: "its fixed share" });
    }
  }
  return actions;
}
