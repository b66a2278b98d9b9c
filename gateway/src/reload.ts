import { isDeepStrictEqual } from "node:util";
import type { CatalogPoller } from "./catalog/poller.ts";
import { accessRules, doorFault, type GatewayConfig } from "./config.ts";
import type { Farm } from "./farm.ts";
import { wantedCopies } from "./placement/wanted-copies.ts";
import { nameRules } from "./routing/resolve-name.ts";

export interface Reloaded {
  /** Something changed, and is in force now. */
  applied: boolean;
  /** Keys whose change waits for a restart. */
  restartNeeded: string[];
}

const RESTART_KEYS: ReadonlySet<string> = new Set(["listen", "tls", "redis", "telemetry"]);

/**
 * Puts a changed configuration in force. What is running goes on; what waits is looked at anew. Throws, with everything as
 * it was, when it would open to all the address that it listens on until a restart.
 */
export function reloadFarm(farm: Farm, poller: CatalogPoller, next: GatewayConfig): Reloaded {
  const before = farm.config;
  const keys = Object.keys(next) as (keyof GatewayConfig)[];
  const changed = keys.filter((key) => !isDeepStrictEqual(before[key], next[key]));
  const restartNeeded = changed.filter((key) => RESTART_KEYS.has(key));
  const applied = changed.length > restartNeeded.length;
  if (!applied) return { applied, restartNeeded };
  // What runs stays as it was started, so that changing it back is no change.
  const { listen, tls, redis, telemetry } = before;
  const config = { ...next, listen, tls, redis, telemetry };
  const fault = doorFault(config);
  if (fault !== null) throw new Error(`listen.host: until a restart ${fault}`);
  farm.config = config;
  farm.names = nameRules(config.models);
  farm.access.configure(accessRules(config));
  farm.keeper.configure(wantedCopies(config.models.keepWarm, farm.names));
  if (changed.includes("placement")) farm.placement.configure(config.placement);
  farm.catalog.configure(config.health);
  const workers = new Set(config.workers.map(({ name }) => name));
  farm.turns.keepOnly(workers);
  farm.learned.keepOnly(workers);
  farm.inflight.keepOnly(workers);
  farm.upstreams.configure(config.timeouts.connect, config.workers);
  poller.configure(config.workers, { intervalMs: config.health.interval, timeoutMs: config.health.timeout });
  farm.waitingRoom.wake();
  farm.deadlineQueue.wake();
  farm.comments.watch();
  farm.log.info({ workers: config.workers.length, restartNeeded }, "configuration applied");
  return { applied, restartNeeded };
}
