import { type AgentCatalog, type Api, CATALOG_PROTOCOL, kindOfName } from "@farmgate/shared";
import type { Learned } from "./learned.ts";
import type { SchedulerView } from "./queue/types.ts";
import type { ServedModel } from "./served-model.ts";

/** All that is passed on; which of them a model speaks is its engine's to say. */
const APIS: Api[] = ["chat", "completions", "embeddings", "rerank", "responses"];

export interface Identity {
  name: string;
  version: string;
}

/** The catalogue (contract section 5) of what the scheduler knows now. */
export function catalogOf(
  identity: Identity,
  models: readonly ServedModel[],
  view: SchedulerView,
  learned: Learned,
): AgentCatalog {
  const states = new Map(view.models.map((state) => [state.name, state]));
  return {
    protocol: CATALOG_PROTOCOL,
    worker: identity.name,
    version: identity.version,
    draining: view.draining,
    models: models.map((model) => {
      const state = states.get(model.name);
      const { loadMs, tokensPerSecond, engine, contextLength } = learned.of(model.name);
      return {
        id: model.name,
        aliases: [...model.aliases],
        kind: kindOfName(model.engineName),
        state: state?.state ?? "unknown",
        slots: { total: model.slots, busy: state?.running ?? 0 },
        queued: state?.queued ?? 0,
        oldest_wait_ms: rounded(state?.oldestWaitMs ?? null),
        load_ms: rounded(loadMs),
        tokens_per_second: tokensPerSecond,
        context_length: contextLength,
        memory_bytes: model.memoryBytes,
        engine,
        apis: APIS,
        quantization: null,
        digest: null,
        pinned: model.pinned,
        prompt_tokens_per_second: null,
        service_ms: null,
        predicted_wait_ms: null,
        wait_bound_ms: null,
      };
    }),
    queue: { depth: view.depth, swapping_to: view.swappingTo, waiting: [] },
    memory: {
      budget_bytes: view.memoryBudget,
      used_bytes: view.memoryUsed,
    },
  };
}

/** `GET /health` (contract section 5). `uptimeMs`: since the agent started. */
export function healthOf(view: SchedulerView, learned: Learned, uptimeMs: number): object {
  const failed = view.models.some((model) => model.state === "failed");
  return {
    status: view.draining ? "draining" : failed ? "degraded" : "ok",
    model: view.loaded[0] ?? null,
    queue_depth: view.depth,
    oldest_wait_ms: Math.round(view.oldestWaitMs),
    inflight: view.inflight,
    last_swap_ms: rounded(learned.lastSwapMs),
    swaps: view.swaps,
    uptime_s: Math.floor(uptimeMs / 1_000),
    engines: [],
  };
}

function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value);
}
