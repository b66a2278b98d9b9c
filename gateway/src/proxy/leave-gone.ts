import type { Catalog } from "../catalog/types.ts";
import type { Farm } from "../farm.ts";

/**
 * Lets requests go on to the next worker that wait for an agent which has just become unhealthy: no byte of their answers
 * has come, and it does not answer polls either. An agent never computes itself, so that one that is silent is gone, with
 * its machine. An engine may be silent on every path while it reads a long prompt: its requests wait on.
 */
export function leaveGone(farm: Farm, after: Catalog, before: Catalog): void {
  const known = new Map(before.workers.map((worker) => [worker.config.name, worker.health]));
  for (const { config, engine, health } of after.workers) {
    if (engine !== "agent" || health !== "unhealthy" || known.get(config.name) === "unhealthy") continue;
    for (const call of farm.live.all()) {
      if (call.worker === config.name && call.phase === "asking" && call.goneError === null) {
        call.attempt?.giveUp("it answers no polls any more");
      }
    }
  }
}
