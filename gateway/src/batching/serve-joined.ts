import { nameKey } from "@farmgate/shared";
import { claimKey } from "../admission/key-place.ts";
import type { Farm } from "../farm.ts";
import type { Served } from "../proxy/accounts.ts";
import type { Call, Received } from "../proxy/call.ts";
import type { Joiner, ServeAlone } from "./joiner.ts";
import { type Joining, type MayJoin, mayJoin } from "./may-join.ts";
import type { BatchRules } from "./open-batches.ts";
import { serveBatch } from "./serve-batch.ts";

/**
 * Serves a request together with others like it, where that is wanted and possible, else by itself. Rejects as
 * `serveAlone` does.
 */
export function serveJoined(farm: Farm, call: Call, received: Received, serveAlone: ServeAlone): Promise<Served> {
  const { batchWindow, batchInputs, batchBytes: bytes } = farm.config.embeddings;
  if (batchWindow === 0) return serveAlone(farm, call, received);
  const joinedAt = farm.clock.now();
  const rules = { inputs: Math.min(batchInputs, farm.batchLimits.most(modelKey(received), joinedAt)), bytes };
  const may = mayJoin(joiningOf(call, received), rules);
  if (may === null) return serveAlone(farm, call, received);
  const join = () => joinOthers(farm, call, received, serveAlone, may, rules, joinedAt);
  // The joint request has no place of its own among those of their key.
  const keyed = claimKey(farm, call);
  return keyed === null ? join() : keyed.then(join);
}

function joinOthers(
  farm: Farm,
  call: Call,
  received: Received,
  serveAlone: ServeAlone,
  may: MayJoin,
  rules: BatchRules,
  joinedAt: number,
): Promise<Served> {
  const size = { inputs: may.read.inputs.length, bytes: received.body.length };
  call.phase = "joined";
  return new Promise((end, fail) => {
    const joiner: Joiner = { ...size, call, received, read: may.read, joinedAt, serveAlone, end, fail };
    const { batch, isNew, full } = farm.batches.add(may.key, joiner, rules);
    call.onGone((error) => {
      end({ status: null, error });
      if (batch.members.delete(joiner) && batch.members.size === 0) batch.onEmpty();
    });
    for (const closed of full) void serveBatch(farm, closed);
    if (!isNew || full.includes(batch)) return;
    farm.clock.after(farm.config.embeddings.batchWindow, () => {
      if (farm.batches.close(batch)) void serveBatch(farm, batch);
    });
  });
}

function modelKey({ model }: Received): string {
  return nameKey(model ?? "");
}

function joiningOf(call: Call, { body, priority, deadlineAt, hops }: Received): Joining {
  const { api, callerName: caller, request } = call;
  const target = request.url ?? "/";
  return { api, body, target, caller, priority, hasDeadline: deadlineAt !== null, hops, via: request.headers.via };
}
