import { ENGINE_NAMES } from "@farmgate/engines";
import {
  accessKey,
  configMessage,
  duration,
  file,
  hosts,
  httpUrl,
  listen,
  listenerTls,
  name,
  operators,
  secret,
  size,
  telemetry,
  wholeNumber,
  withCrossChecks,
} from "@farmgate/shared";
import { z } from "zod";
import { CROSS_CHECKS } from "./checks/cross-checks.ts";

const positiveDuration = duration.refine((ms) => ms > 0, "must be longer than 0");

/** For engines that a broken connection hurts: when a caller leaves, its answer is read on, up to these limits. */
const drainOnAbort = z.strictObject({ bytes: size.default(0), time: duration.default(0) }).prefault({});

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
    /** For comparison: `fifo` is plain arrival order, `collate` the greedy order without a bound on anybody's wait. */
    policy: z.enum(["greedy", "fifo", "collate"], { error: "must be greedy, fifo or collate" }).default("greedy"),
    maxBatch: wholeNumber(1).default(64),
    maxWait: duration.default(60_000),
    minResident: duration.default(0),
    /** How long an idle warm model is kept for the rest of a burst before another one is loaded. */
    gather: duration.default(100),
    maxDepth: wholeNumber(1).default(1_000),
    /** The longest answer that the promise on waiting counts with, until longer ones were seen. */
    longestAnswer: positiveDuration.default(60_000),
  })
  .prefault({});

/** Who may have signed its certificate; unset: whom this machine trusts. In the file a file's name, here its text. */
const ca = file.nullable().default(null);

/** Weights on this machine's disk: agents with a key may fetch them, and what a model lacks is fetched from peers. */
const filesSchema = z
  .strictObject({
    directory: z.string().min(1, "must not be empty").nullable().default(null),
    /** Bytes a second for all that is sent, and as many for all that is fetched; 0: no limit. */
    rate: size.default(0),
    /** Other agents; those whose speed is not known yet are tried in this order. */
    peers: z.array(z.strictObject({ url: httpUrl, ca, apiKey: secret.nullable().default(null) })).default([]),
  })
  .prefault({});

const sha256 = z
  .string()
  .regex(/^[0-9a-fA-F]{64}$/, "must be a SHA-256 in hex")
  .toLowerCase();

/** Below `files.directory`; its hash where the owner knows it. */
const modelFile = z.union(
  [
    z.string().transform((path) => ({ path, sha256: null })),
    z.strictObject({ path: z.string(), sha256: sha256.nullable().default(null) }),
  ],
  { error: "must be a file's name, or { path, sha256 }" },
);

const modelSchema = z.strictObject({
  name,
  url: httpUrl,
  ca,
  model: name.optional(),
  aliases: z.array(name).default([]),
  slots: wholeNumber(1).default(4),
  ready: z.enum(["health", "models", "generate"]).default("health"),
  health: z.string().startsWith("/", "must start with /").default("/health"),
  timeout: positiveDuration.optional(),
  memory: size.default(0),
  /** Run and supervised by the agent, instead of the swap script. */
  command: z.string().optional(),
  /** Between the polite and the forced end of `command`. */
  stopGrace: duration.default(10_000),
  pinned: z.boolean().default(false),
  ttl: duration.default(0),
  preload: z.boolean().default(false),
  /** What its engine reads from `files.directory`. */
  files: z.array(modelFile).default([]),
  drainOnAbort,
});

/** What an owner may say of a model that an attached engine lists. */
const engineModelSchema = z.strictObject({
  aliases: z.array(name).default([]),
  slots: wholeNumber(1).optional(),
  timeout: positiveDuration.optional(),
  memory: size.default(0),
  pinned: z.boolean().default(false),
  ttl: duration.optional(),
  preload: z.boolean().default(false),
  drainOnAbort,
});

/** A server that loads its own models; what it lists is served. */
const engineSchema = z.strictObject({
  url: httpUrl,
  ca,
  engine: z.enum(["auto", ...ENGINE_NAMES]).default("auto"),
  apiKey: secret.nullable().default(null),
  /** Requests at once for each model; unset: what it reports, else what its kind of engine does by default. */
  slots: wholeNumber(1).optional(),
  /** Unload each model after this idle time; 0: the agent does not. */
  ttl: duration.default(0),
  /** Between two looks at its list. */
  poll: positiveDuration.default(5_000),
  allow: z.array(z.string()).default(["*"]),
  deny: z.array(z.string()).default([]),
  models: z.record(name, engineModelSchema).default({}),
});

/** A gateway that the agent registers with. */
const gatewaySchema = z
  .strictObject({
    /** null: it is looked for on the local network. */
    url: httpUrl.nullable().default(null),
    discover: z.boolean().default(false),
    ca,
    /** Of the gateway's `keys`, with `agents: true`. */
    key: secret.nullable().default(null),
    /** Where the gateway reaches this agent; null: at the address that it comes from. */
    advertise: httpUrl.nullable().default(null),
    weight: z.number().positive().nullable().default(null),
    maxConcurrent: wholeNumber(0).default(0),
  })
  .refine(({ url, discover }) => (url === null) === discover, "needs a `url`, or `discover: true` to look for one");

/** One gateway or a list of them, in the program always a list. */
const gateways = z
  .unknown()
  .optional()
  .transform((value, context) => {
    const isList = Array.isArray(value);
    const told = isList ? value : value === undefined || value === null ? [] : [value];
    return told.flatMap((one: unknown, i) => {
      const parsed = gatewaySchema.safeParse(one, { error: configMessage });
      for (const issue of parsed.error?.issues ?? []) {
        context.issues.push({
          ...issue,
          input: one,
          path: isList ? [i, ...issue.path] : issue.path,
        } as z.core.$ZodRawIssue);
      }
      return parsed.success ? [parsed.data] : [];
    });
  });

const shape = z.strictObject({
  name: name.default("agent"),
  listen: listen(8401),
  swap: swapSchema,
  queue: queueSchema,
  models: z.array(modelSchema).default([]),
  engines: z.array(engineSchema).default([]),
  memory: z.strictObject({ budget: size.default(0) }).prefault({}),
  files: filesSchema,
  keys: z.array(accessKey).default([]),
  open: z.boolean().default(false),
  operators,
  hosts,
  gateway: gateways,
  telemetry,
  tls: listenerTls,
  drain: duration.default(300_000),
});
export type AgentShape = z.output<typeof shape>;

/** Contract section 3. In the output durations are milliseconds and sizes bytes. */
export const agentConfigSchema = withCrossChecks(shape, CROSS_CHECKS);
export type AgentConfig = z.output<typeof agentConfigSchema>;
