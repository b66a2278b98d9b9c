import { isDeepStrictEqual } from "node:util";
import type { CatalogPoller } from "./catalog/poller.ts";
import type { GatewayConfig } from "./config.ts";
import type { Farm } from "./farm.ts";
import { nameRules } from "./routing/resolve-name.ts";

export interface Reloaded {
  /** Something changed, and is in force now. */
  applied: boolean;
  /** Keys whose change waits for a restart. */
  restartNeeded: string[];
}

const RESTART_KEYS = ["listen", "tls", "redis"] as const;

/** Puts a changed configuration in force. What is running goes on; what waits is looked at anew. */
export function reloadFarm(farm: Farm, poller: CatalogPoller, next: GatewayConfig): Reloaded {
  const before = farm.config;
  const restartNeeded = RESTART_KEYS.filter((key) => !isDeepStrictEqual(before[key], next[key]));
  // What runs stays what it was started with, so that a second change back is no change.
  const config = { ...next, listen: before.listen, tls: before.tls, redis: before.redis };
  const applied = !isDeepStrictEqual(before, config);
  if (!applied) return { applied, restartNeeded };
  farm.config = config;
  farm.names = nameRules(config.models);
  farm.keys.configure(config.keys);
  farm.catalog.configure({ unhealthyAfter: config.health.unhealthyAfter });
  farm.turns.keepOnly(new Set(config.workers.map(({ name }) => name)));
  farm.upstreams.configure(
    config.timeouts.connect,
    config.workers.map(({ url }) => url),
  );
  poller.configure(config.workers, { intervalMs: config.health.interval, timeoutMs: config.health.timeout });
  farm.waitingRoom.wake();
  farm.log.info({ workers: config.workers.length, restartNeeded }, "configuration applied");
  return { applied, restartNeeded };
}
