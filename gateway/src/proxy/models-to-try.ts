import { FarmError, onlyModel } from "@farmgate/shared";
import { allowedModels } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import { modelsAskedAs } from "../routing/models-asked-as.ts";
import { prefixHashes } from "../routing/prefix-hashes.ts";
import { fallbacksOf, keyAllows, type ResolvedName, resolveName } from "../routing/resolve-name.ts";
import type { RoutingRequest } from "../routing/types.ts";
import { NONE_SPENT } from "../routing/ways.ts";
import { waysOf } from "../translate/ways.ts";
import type { Call, Received } from "./call.ts";

/**
 * The model that the caller asked for and then its fallbacks, each as routing wants it. Throws `model_not_allowed`.
 * The conversation's worker is looked up, and will be remembered, for the model that was asked for.
 */
export function* modelsToTry(farm: Farm, call: Call, received: Received): Generator<RoutingRequest> {
  const { current } = farm.catalog;
  const patterns = allowedModels(call.caller);
  const name = received.model ?? onlyModel(modelsAskedAs(waysOf(call.api), current, farm.names, patterns));
  const asked = resolveName(name, farm.names, current);
  if (!keyAllows(patterns, asked, current.union)) {
    throw new FarmError("model_not_allowed", `The key "${call.callerName}" may not use the model "${asked.asked}".`, {
      param: "model",
    });
  }
  yield toRequest(farm, call, received, asked, patterns);
  for (const other of fallbacksOf(asked, farm.names, patterns, current)) {
    yield toRequest(farm, call, received, other, patterns);
  }
}

function toRequest(
  farm: Farm,
  call: Call,
  { body, scan }: Received,
  resolved: ResolvedName,
  patterns: readonly string[],
): RoutingRequest {
  const { name, key, worker: only } = resolved;
  const hasChoice = farm.config.routing.affinity && farm.catalog.current.workers.length > 1;
  call.prefix = hasChoice ? prefixHashes(call.api, body, scan, { key, caller: call.callerName }) : null;
  const prefixWorker = call.prefix === null ? null : farm.affinity.find(call.prefix);
  const ways = waysOf(call.api);
  return { key, name, api: call.api, ways, spent: NONE_SPENT, only, held: null, patterns, prefixWorker };
}
