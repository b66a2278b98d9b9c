import { z } from "zod";

export const CATALOG_PROTOCOL = 1;

export const modelStateSchema = z.enum(["warm", "loading", "cold", "failed", "unknown"]);
/** Where a model stands on one worker. */
export type ModelState = z.infer<typeof modelStateSchema>;

/**
 * What it would take to have a model in use on its worker: `active`: loaded; `warm`: its weights are probably in the
 * host's page cache; `cold`: on its disk; `absent`: to be fetched first.
 */
const temperatureSchema = z.enum(["active", "warm", "cold", "absent"]);
export type Temperature = z.infer<typeof temperatureSchema>;

const figure = z.number().finite().nonnegative();

const catalogModelShape = {
  id: z.string().min(1).max(300),
  aliases: z.array(z.string().min(1).max(300)),
  kind: z.string().max(40),
  state: modelStateSchema,
  slots: z.object({ total: figure, busy: figure }),
  queued: figure,
  oldest_wait_ms: figure.nullable(),
  load_ms: figure.nullable(),
  tokens_per_second: figure.nullable(),
  context_length: figure.nullable(),
  memory_bytes: figure.nullable(),
  engine: z.string().nullable(),
  apis: z.array(z.string().max(40)),
  quantization: z.string().nullable(),
  digest: z.string().nullable(),
  /** Always loaded. */
  pinned: z.boolean(),
  /** Tokens of the prompt read per second. */
  prompt_tokens_per_second: figure.nullable(),
  /** How long one answer takes on average. */
  service_ms: figure.nullable(),
  /** Forecast: how long a request that came now would wait for its grant, loads included. */
  predicted_wait_ms: figure.nullable(),
  /** Promise: the longest that a request that came now can wait for its grant (`queue/bound.ts`). */
  wait_bound_ms: figure.nullable(),
  temperature: temperatureSchema.nullable(),
};

/** At most so many waiting requests are told one by one. */
export const MAX_WAITING_TOLD = 1_000;

const waitingShape = {
  /** Its `x-request-id`. */
  id: z.string().max(200),
  model: z.string().max(300),
  /** In its model's queue, from 1. */
  position: figure,
  waited_ms: figure,
  /** The longest that it will still wait; null: not known. */
  bound_ms: figure.nullable(),
};

/** What an agent sends at `GET /catalog`: exactly these fields (contract: "Agent HTTP"). */
export const catalogSchema = z.strictObject({
  protocol: z.literal(CATALOG_PROTOCOL),
  worker: z.string(),
  version: z.string(),
  draining: z.boolean(),
  models: z.array(z.strictObject(catalogModelShape)),
  queue: z.strictObject({
    depth: figure,
    swapping_to: z.string().nullable(),
    waiting: z.array(z.strictObject(waitingShape)).max(MAX_WAITING_TOLD),
  }),
  memory: z.strictObject({ budget_bytes: figure, used_bytes: figure }),
});
export type AgentCatalog = z.infer<typeof catalogSchema>;
export type AgentCatalogModel = AgentCatalog["models"][number];

/**
 * What a gateway reads of an agent's catalogue: unknown fields are ignored, figures may be missing,
 * and a newer agent's unknown state counts as unknown.
 */
export const receivedCatalogSchema = z.object({
  protocol: z.number(),
  worker: z.string().nullish(),
  version: z.string().nullish(),
  draining: z.boolean().catch(false),
  models: z
    .array(
      z.object({
        id: z.string().min(1).max(300),
        aliases: z.array(z.string().max(300)).catch([]),
        kind: z.string().max(40).catch("chat"),
        state: modelStateSchema.catch("unknown"),
        slots: z.object({ total: figure, busy: figure }).nullish().catch(null),
        queued: figure.nullish().catch(null),
        oldest_wait_ms: figure.nullish().catch(null),
        load_ms: figure.nullish().catch(null),
        tokens_per_second: figure.nullish().catch(null),
        context_length: figure.nullish().catch(null),
        memory_bytes: figure.nullish().catch(null),
        engine: z.string().nullish().catch(null),
        apis: z.array(z.string().max(40)).nullish().catch(null),
        quantization: z.string().nullish().catch(null),
        digest: z.string().nullish().catch(null),
        service_ms: figure.nullish().catch(null),
        predicted_wait_ms: figure.nullish().catch(null),
        wait_bound_ms: figure.nullish().catch(null),
        pinned: z.boolean().nullish().catch(null),
      }),
    )
    .max(10_000),
  queue: z
    .object({ waiting: z.array(z.object(waitingShape)).max(MAX_WAITING_TOLD).catch([]) })
    .nullish()
    .catch(null),
  memory: z.object({ budget_bytes: figure, used_bytes: figure }).nullish().catch(null),
});
export type ReceivedCatalog = z.infer<typeof receivedCatalogSchema>;
