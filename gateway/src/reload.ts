import { isDeepStrictEqual } from "node:util";
import type { CatalogPoller } from "./catalog/poller.ts";
import { accessRules, doorFault, type GatewayConfig } from "./config.ts";
import type { Farm } from "./farm.ts";
import { wantedCopies } from "./placement/wanted-copies.ts";
import { applyWorkers } from "./registry/apply-workers.ts";
import { nameRules } from "./routing/resolve-name.ts";

export interface Reloaded {
  /** Something changed, and is in force now. */
  applied: boolean;
  /** Keys whose change waits for a restart. */
  restartNeeded: string[];
}

const RESTART_KEYS: ReadonlySet<string> = new Set(["listen", "processes", "tls", "redis", "discovery", "telemetry"]);

interface Change extends Reloaded {
  /** What is in force from now on. */
  config: GatewayConfig;
  changed: readonly (keyof GatewayConfig)[];
}

/**
 * What a changed configuration comes to while the gateway runs. Throws when it would open to all the address that it
 * listens on until a restart.
 */
export function changeOf(before: GatewayConfig, next: GatewayConfig): Change {
  const keys = Object.keys(next) as (keyof GatewayConfig)[];
  const changed = keys.filter((key) => !isDeepStrictEqual(before[key], next[key]));
  const restartNeeded = changed.filter((key) => RESTART_KEYS.has(key));
  const applied = changed.length > restartNeeded.length;
  if (!applied) return { applied, restartNeeded, changed, config: before };
  // What runs stays as it was started, so that changing it back is no change.
  const { listen, processes, tls, redis, discovery, telemetry } = before;
  const config = { ...next, listen, processes, tls, redis, discovery, telemetry };
  const fault = doorFault(config);
  if (fault !== null) throw new Error(`listen.host: until a restart ${fault}`);
  return { applied, restartNeeded, changed, config };
}

/**
 * Puts a changed configuration in force. What is running goes on; what waits is looked at anew. Throws, with everything as
 * it was, where `changeOf` does.
 */
export function reloadFarm(farm: Farm, poller: CatalogPoller, next: GatewayConfig): Reloaded {
  const { applied, restartNeeded, changed, config } = changeOf(farm.config, next);
  if (!applied) return { applied, restartNeeded };
  farm.config = config;
  farm.names = nameRules(config.models);
  farm.access.configure(accessRules(config));
  farm.keeper.configure(wantedCopies(config.models.keepWarm, farm.names));
  if (changed.includes("placement")) farm.placement.configure(config.placement);
  farm.catalog.configure(config.health);
  farm.registrar.yieldToFile();
  applyWorkers(farm, poller);
  farm.comments.watch();
  farm.log.info({ workers: config.workers.length, restartNeeded }, "configuration applied");
  return { applied, restartNeeded };
}
