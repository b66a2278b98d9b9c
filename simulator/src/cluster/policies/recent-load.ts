import type { ModelLoad } from "@farmgate/gateway/policies";
import type { ClusterView } from "../types.ts";

/** An application's load of the last `windowMs`. Before so much time has passed, the time without requests counts too. */
export function recentLoad(view: ClusterView, app: number, windowMs: number): ModelLoad {
  const load = view.load(app, windowMs);
  if (view.now >= windowMs) return load;
  return { ...load, requestsPerSecond: (load.requestsPerSecond * view.now) / windowMs };
}
