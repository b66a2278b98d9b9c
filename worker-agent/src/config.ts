import { accessKey, duration, httpUrl, listen, name, size, wholeNumber, withCrossChecks } from "@farmgate/shared";
import { z } from "zod";
import { CROSS_CHECKS } from "./config-checks.ts";

const NOT_YET = "is not offered by this version yet";

const positiveDuration = duration.refine((ms) => ms > 0, "must be longer than 0");

const swapSchema = z
  .strictObject({
    command: z.string().optional(),
    timeout: positiveDuration.default(180_000),
    poll: positiveDuration.default(1_000),
    failureLimit: wholeNumber(1).default(3),
    failureReset: duration.default(300_000),
    status: z.boolean().default(false),
    unload: z.boolean().default(false),
  })
  .prefault({});

const queueSchema = z
  .strictObject({
    /** `fifo` is plain arrival order, one answer after the other: what the greedy queue is measured against. */
    policy: z.enum(["greedy", "fifo"], { error: "must be greedy or fifo" }).default("greedy"),
    maxBatch: wholeNumber(1).default(64),
    maxWait: duration.default(60_000),
    minResident: duration.default(0),
    /** How long an idle warm model is kept for the rest of a burst before another one is loaded. */
    gather: duration.default(100),
    maxDepth: wholeNumber(1).default(1_000),
  })
  .prefault({});

const modelSchema = z.strictObject({
  name,
  url: httpUrl,
  model: name.optional(),
  aliases: z.array(name).default([]),
  slots: wholeNumber(1).default(4),
  ready: z.enum(["health", "models", "generate"]).default("health"),
  health: z.string().startsWith("/", "must start with /").default("/health"),
  timeout: positiveDuration.optional(),
  memory: size.default(0),
  command: z
    .string()
    .optional()
    .refine((value) => value === undefined, NOT_YET),
  pinned: z
    .boolean()
    .default(false)
    .refine((value) => !value, NOT_YET),
  ttl: duration.default(0).refine((value) => value === 0, NOT_YET),
  preload: z
    .boolean()
    .default(false)
    .refine((value) => !value, NOT_YET),
});

const shape = z.strictObject({
  name: name.default("agent"),
  listen: listen(8401),
  swap: swapSchema,
  queue: queueSchema,
  models: z.array(modelSchema).default([]),
  engines: z
    .array(z.unknown())
    .default([])
    .refine((value) => value.length === 0, NOT_YET),
  memory: z.strictObject({ budget: size.default(0).refine((value) => value === 0, NOT_YET) }).prefault({}),
  keys: z.array(accessKey).default([]),
  open: z.boolean().default(false),
  gateway: z
    .unknown()
    .optional()
    .refine((value) => value === undefined, NOT_YET),
  tls: z
    .unknown()
    .optional()
    .refine((value) => value === undefined, NOT_YET),
  drain: duration.default(300_000),
});
export type AgentShape = z.output<typeof shape>;

/** Contract section 3. In the output durations are milliseconds and sizes bytes. */
export const agentConfigSchema = withCrossChecks(shape, CROSS_CHECKS);
export type AgentConfig = z.output<typeof agentConfigSchema>;
