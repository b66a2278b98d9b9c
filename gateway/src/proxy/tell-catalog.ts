import type { Farm } from "../farm.ts";
import type { Choice } from "../routing/types.ts";
import type { Call } from "./call.ts";
import type { FailedAttempt } from "./failure.ts";

/** What the catalogue learns from a failed try. */
export function tellCatalog(farm: Farm, { api }: Call, choice: Choice, failed: FailedAttempt): void {
  const worker = choice.worker.config.name;
  const model = choice.upstreamModel;
  if (failed.by === "connection") {
    if (failed.kind === "refused") farm.catalog.apply({ type: "refused", worker });
  } else if (failed.meaning === "unknown_model") {
    farm.catalog.apply({ type: "disowned", worker, model, api, reason: `answered ${failed.status}` });
  } else if (failed.meaning === "load_failed") {
    farm.catalog.apply({ type: "load_failed", worker, model });
  }
}

/** Answer bytes came: once when they begin, once when they end. */
export function tellAnswered(farm: Farm, { worker, upstreamModel }: Call): void {
  if (worker === null) return;
  farm.catalog.apply({ type: "answered", worker, model: upstreamModel, at: farm.clock.now() });
}
