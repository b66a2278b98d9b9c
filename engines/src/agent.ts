import { isApi, receivedCatalogSchema } from "@farmgate/shared";
import { z } from "zod";
import type { CatalogModel, WaitingRequest } from "./catalog.ts";
import { type Adapter, PLAIN } from "./adapter.ts";
import { LLAMA_SERVER_RULES } from "./llama-server.ts";
import { type MeaningRule, meaningOf } from "./meaning.ts";
import { OLLAMA_RULES } from "./ollama.ts";
import { BOTH_COMMANDS, catalogModel, catalogReport, modelName, readAliases, readList, slotsOf } from "./read-model.ts";

/** Read model by model, so that one bad name does not hide the others. */
const catalogue = receivedCatalogSchema.extend({ models: z.unknown().optional() });
const element = receivedCatalogSchema.shape.models.element.extend({ id: modelName, aliases: z.unknown().optional() });

/**
 * By the error's code (shared's catalogue); an answer without one comes from the engine behind the agent, passed
 * on as it was. What is final there is final here: another worker would have no more time left.
 */
const RULES: readonly MeaningRule[] = [
  { code: "model_not_found", meaning: "unknown_model" },
  { code: "queue_full", meaning: "busy" },
  { code: "draining", meaning: "busy" },
  { code: "rate_limited", meaning: "busy" },
  { code: "timeout_queue", meaning: "busy" },
  { code: "load_failed", meaning: "load_failed" },
  { code: "deadline", meaning: "client_fault" },
  { code: "timeout_first_byte", meaning: "client_fault" },
  { code: "cancelled", meaning: "client_fault" },
  { code: "client_closed", meaning: "client_fault" },
  { code: "no_worker", meaning: "worker_fault" },
  ...LLAMA_SERVER_RULES,
  ...OLLAMA_RULES,
];

/** Farmgate's own worker agent (contract: "Agent HTTP"). */
export const agent: Adapter = {
  ...PLAIN,
  engine: "agent",
  catalogPath: "/catalog",
  loadsOnRequest: true,
  parse(main) {
    const parsed = catalogue.safeParse(main);
    if (!parsed.success || parsed.data.models === undefined) return null;
    const models = readList(parsed.data.models, element);
    if (models === null) return null;
    const { draining, memory, queue } = parsed.data;
    return catalogReport(models.map(toModel), {
      draining,
      memory: memory ? { budgetBytes: memory.budget_bytes, usedBytes: memory.used_bytes } : null,
      waiting: (queue?.waiting ?? []).map(toWaiting),
    });
  },
  // A job in its queue like any other; its catalogue tells when the model is there.
  load: ({ id }) => ({ path: `/models/${encodeURIComponent(id)}/load`, body: {}, done: "poll" }),
  unload: ({ id }) => [{ path: `/models/${encodeURIComponent(id)}/unload`, body: {}, done: "answer" }],
  meaning: (answer) => meaningOf(answer, RULES),
};

function toModel(model: z.output<typeof element>): CatalogModel {
  return catalogModel(model.id, model.state, {
    aliases: readAliases(model.aliases, model.id),
    kind: model.kind,
    contextLength: model.context_length ?? null,
    slots: slotsOf(model.slots?.total),
    queued: model.queued ?? null,
    oldestWaitMs: model.oldest_wait_ms ?? null,
    loadMs: model.load_ms ?? null,
    tokensPerSecond: model.tokens_per_second ?? null,
    apis: model.apis?.filter(isApi) ?? null,
    memoryBytes: model.memory_bytes ?? null,
    quantization: model.quantization ?? null,
    capabilities: model.engine === "llama-server" && model.kind === "chat" ? ["tools"] : [],
    commands: BOTH_COMMANDS,
    digest: model.digest ?? null,
    predictedWaitMs: model.predicted_wait_ms ?? null,
    serviceMs: model.service_ms ?? null,
    waitBoundMs: model.wait_bound_ms ?? null,
    pinned: model.pinned ?? false,
  });
}

type ToldWaiting = NonNullable<z.output<typeof catalogue>["queue"]>["waiting"][number];

function toWaiting({ id, model, position, waited_ms, bound_ms }: ToldWaiting): WaitingRequest {
  return { id, model, position, waitedMs: waited_ms, boundMs: bound_ms };
}
