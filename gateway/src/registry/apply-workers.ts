import type { CatalogPoller } from "../catalog/poller.ts";
import type { Farm } from "../farm.ts";

/**
 * Puts the farm's workers in force, those of the file and then those that registered, for all who keep something by
 * worker. What is under way at one that is out goes on; what waits is looked at anew.
 */
export function applyWorkers(farm: Farm, poller: CatalogPoller): void {
  const { health, timeouts } = farm.config;
  const workers = [...farm.config.workers, ...farm.registrar.configs()];
  const names = new Set(workers.map(({ name }) => name));
  farm.turns.keepOnly(names);
  farm.learned.keepOnly(names);
  farm.inflight.keepOnly(names);
  farm.upstreams.configure(timeouts.connect, workers);
  poller.configure(workers, { intervalMs: health.interval, timeoutMs: health.timeout });
  farm.waitingRoom.wake();
  farm.deadlineQueue.wake();
}
