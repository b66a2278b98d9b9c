import { HEADER } from "@farmgate/shared";
import { waitingAhead } from "../admission/take-worker.ts";
import { groupOf } from "../admission/waiting-group.ts";
import type { Farm } from "../farm.ts";
import { answerJson } from "../http/json-answer.ts";
import { explain, type Explanation } from "../routing/explain.ts";
import { type QueueView, queueView } from "../scheduling/queue-view.ts";
import type { RoutingRequest } from "../routing/types.ts";
import type { Served } from "./accounts.ts";
import type { Call, Received } from "./call.ts";
import { modelsToTry } from "./models-to-try.ts";
import { routingContext } from "./routing-context.ts";

/** Whether the caller wants to know what would happen, and no more. */
export function isDryRun(call: Call): boolean {
  return call.request.headers[HEADER.dryRun] === "1";
}

/** Answers where the request would go; no worker hears of it. */
export function answerDryRun(farm: Farm, call: Call, received: Received): Served {
  for (const request of modelsToTry(farm, call, received)) {
    call.model = request.name;
    const { id: requestId, family, ownHeaders } = call;
    answerJson(call.response, 200, explainNow(farm, request), { family, requestId, headers: ownHeaders });
    break;
  }
  return { status: 200, error: null };
}

/** The ranked workers for a request that came now. */
export function explainNow(farm: Farm, request: RoutingRequest): Explanation & { queue?: QueueView } {
  const explained = explain(request, routingContext(farm, waitingAhead(farm, request, [])));
  if (farm.config.scheduling === "greedy") return explained;
  const waiting = farm.deadlineQueue.inGroup(groupOf(request, []));
  return { ...explained, queue: queueView(waiting, farm.deadlineQueue.slots(request).instances, farm.clock.now()) };
}
