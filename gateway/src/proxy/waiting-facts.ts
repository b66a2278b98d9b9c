import { nameKey } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import type { Call } from "./call.ts";
import type { Wait } from "./waiting-text.ts";

/** What the farm knows now of a request that waits. */
export function waitOf(farm: Farm, call: Call, now: number): Wait {
  const asked = call.phase === "asking" || call.phase === "answering";
  const entry = asked ? farm.catalog.current.workers.find(({ config }) => config.name === call.worker) : undefined;
  const model = entry?.byKey.get(nameKey(call.upstreamModel));
  const position = entry?.report?.waiting.find(({ id }) => id === call.id)?.position ?? null;
  const warm = model?.state === "warm";
  // A model that was cold when it was asked for is loaded now, unless its agent still holds the request back.
  const askedToLoad = position === null && (call.warmth === "cold" || call.warmth === "loading");
  return {
    stage: stageOf(farm, call),
    model: call.model,
    worker: asked ? call.worker : null,
    loading: model?.state === "loading" || (askedToLoad && !warm),
    warm,
    waitedMs: now - call.arrivedAt,
    askedMs: asked && call.askedAt !== null ? now - call.askedAt : null,
    loadMs: model?.loadMs ?? null,
    position,
  };
}

function stageOf(farm: Farm, { phase }: Call): Wait["stage"] {
  if (phase === "answering") return "begun";
  if (phase === "asking") return "asked";
  return farm.isReady ? "queued" : "looking";
}
