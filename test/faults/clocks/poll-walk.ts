import type { Random } from "@farmgate/shared";
import { steadily } from "@farmgate/wire";
import { Farm, dead, ok, refused } from "../../../gateway/test/catalog/farm.ts";
import { reduce } from "../../../gateway/src/catalog/reduce.ts";
import type { CatalogEvent } from "../../../gateway/src/catalog/types.ts";

const POLL_MS = 5_000;
const DAY_MS = 86_400_000;
/** Longer than a failed load or an unknown model keeps a pair back. */
const BEHIND_MS = 61_000;

/** A worker's catalogue by the clock of the programs, which the system's clock moves as it likes. */
export function* pollWalk(random: Random, steps: number): Generator<string> {
  let system = 0;
  const clock = steadily(() => system);
  const farm = new Farm("w");
  const on = (event: CatalogEvent) => {
    farm.catalog = reduce(farm.catalog, event, clock(), farm.health);
  };
  const poll = (result: Extract<CatalogEvent, { type: "polled" }>["result"]) => {
    const startedAt = clock();
    system += Math.round(random() * 100);
    on({ type: "polled", worker: "w", startedAt, result });
    system += POLL_MS;
  };
  const happenings: (() => void)[] = [
    () => poll(ok(["m"])),
    () => poll(dead),
    () => poll(refused),
    () => on({ type: "refused", worker: "w" }),
    () => on({ type: "answered", worker: "w", model: "m", at: clock() }),
    () => on({ type: "load_failed", worker: "w", model: "m" }),
    () => on({ type: "disowned", worker: "w", model: "m", reason: "" }),
    () => void (system += (random() - 0.5) * 2 * DAY_MS),
  ];
  for (let step = 0; step < steps; step += 1) happenings[Math.floor(random() * happenings.length)]?.();
  // It is gone: three polls that say so are enough, behind two that an answer of just now outweighs.
  for (let n = 0; n < 5; n += 1) poll(dead);
  if (farm.worker("w").health !== "unhealthy") yield "a dead worker is taken for alive";
  system += BEHIND_MS;
  poll(ok(["m=warm"]));
  const { health, refused: last, asideUntil } = farm.worker("w");
  if (health !== "healthy" || last) yield "a worker that answers again is not asked like any other";
  if (asideUntil.size > 0 || farm.state("w", "m") !== "warm") yield "a model that is loaded is held back";
}
