import { throughMs } from "@farmgate/shared";
import { cheapestLoad } from "./loading.ts";
import type { ClusterState } from "./state.ts";
import type { ClusterView } from "./types.ts";

/** What a policy sees of a state; one for the whole run. */
export function viewOf(state: ClusterState): ClusterView {
  const { pageBytes } = state.parameters;
  return {
    get now() {
      return state.now;
    },
    shape: state.shape,
    applications: state.applications,
    instances: state.instances,
    instancesOf: (app) => state.ofApp[app] ?? [],
    onDevice: (device) => state.onDevice[device] ?? [],
    isFree: (device) => state.onDevice[device]?.length === 0,
    waiting: (app) => (state.waiting[app]?.size ?? 0) + (state.handovers[app]?.length ?? 0),
    load: (app, windowMs) => recentOf(state, app).load(state.now, windowMs),
    onTime: (app, windowMs) => recentOf(state, app).onTime(state.now, windowMs),
    inTime: (app, windowMs) => recentOf(state, app).inTime(state.now, windowMs),
    used(id) {
      const used = { memory: 0, compute: 0, bandwidth: 0 };
      for (const engine of state.byId.get(id)?.engines ?? []) {
        const { tensorParallel, weightBytes } = engine.model;
        // It may have done the same for long: what was measured up to its last change goes on.
        const kept = Math.exp(-(state.now - engine.settledAt) / state.parameters.measureMs);
        const prompt = engine.prefilling < 0 ? 0 : engine.prefillPace;
        const compute = kept * engine.compute + (1 - kept) * Math.min(1, prompt + engine.stepCompute);
        const bandwidth = kept * engine.bandwidth + (1 - kept) * engine.stepBandwidth;
        used.memory += weightBytes + engine.statePages * pageBytes * tensorParallel;
        used.compute += compute * tensorParallel;
        used.bandwidth += bandwidth * tensorParallel;
      }
      return used;
    },
    loadMs: (app, devices) => throughMs(cheapestLoad(state, app, devices, false)),
  };
}

function recentOf(state: ClusterState, app: number) {
  const recent = state.recent[app];
  if (recent === undefined) throw new RangeError(`there is no application ${app}`);
  return recent;
}
