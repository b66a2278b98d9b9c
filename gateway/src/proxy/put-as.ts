import { FarmError, parseJson } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Choice, RoutingRequest } from "../routing/types.ts";
import { isWay, wayKey, wayTo } from "../routing/ways.ts";
import type { JsonObject, Translated } from "../translate/translation.ts";
import { translatorTo } from "../translate/ways.ts";
import type { Call, Received } from "./call.ts";

/** The question as this worker is asked it; null: as the caller put it. An error: it cannot be put so. */
export function putAs(farm: Farm, call: Call, { body }: Received, choice: Choice): Translated | FarmError | null {
  const translator = choice.api === call.api ? null : translatorTo(call.api, choice.api);
  if (translator === null) return null;
  try {
    return translator(parseJson(body.joined().toString("utf8")) as JsonObject, {
      model: choice.upstreamModel,
      engine: choice.worker.engine,
      requestId: call.id,
      wallMs: farm.clock.wall(),
    });
  } catch (error) {
    if (error instanceof FarmError) return error;
    throw error;
  }
}

/** That way led nowhere. A worker that lists the model and can be asked in another one counts as not tried. */
export function closeWay(
  request: RoutingRequest,
  { worker, api, model }: Choice,
  tried: Set<string>,
  now: number,
): void {
  const { name } = worker.config;
  request.spent = new Set(request.spent).add(wayKey(name, api));
  if (model !== null && isWay(wayTo(worker, model, request, now))) tried.delete(name);
}
