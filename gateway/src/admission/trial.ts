import { nameKey } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import { isTrialDue } from "../routing/breaker.ts";
import type { Choice } from "../routing/types.ts";

/** Notes a request that is the trial of its pair; call what comes back when it has ended. null: it is none. */
export function beginTrial(farm: Farm, { worker, model, upstreamModel }: Choice): (() => void) | null {
  if (worker.breakers.size === 0) return null;
  const breaker = worker.breakers.get(nameKey(model?.id ?? upstreamModel));
  const at = farm.clock.now();
  if (breaker === undefined || !isTrialDue(breaker, at)) return null;
  const trial = { worker: worker.config.name, model: upstreamModel, at };
  farm.catalog.apply({ type: "tried", ...trial });
  return () => farm.catalog.apply({ type: "trial_over", ...trial });
}
