import {
  accessKey,
  checkKeys,
  duration,
  file,
  hosts,
  httpUrl,
  isLoopback,
  listen,
  listenerTls,
  name,
  nameKey,
  operators,
  type ReportProblem,
  secret,
  size,
  telemetry,
  wholeNumber,
  withCrossChecks,
} from "@farmgate/shared";
import { ENGINE_NAMES } from "@farmgate/engines";
import type { AccessRules } from "@farmgate/wire";
import { z } from "zod";
import { checkPlacement, placementSettings } from "./placement/live/settings.ts";
import { redisSettings } from "./together/redis/settings.ts";

const positiveDuration = duration.refine((ms) => ms > 0, "must be longer than 0");
const MOST_PROCESSES = 256;
const PROCESSES_HINT = { error: `must be auto, or a whole number from 1 to ${MOST_PROCESSES}` };
const modelName = z.string().min(1, "must not be empty").max(300);

const worker = z.strictObject({
  name,
  url: httpUrl,
  /** Who may have signed its certificate; unset: whom this machine trusts. In the file a file's name, here its text. */
  ca: file.nullable().default(null),
  engine: z.enum(["auto", ...ENGINE_NAMES]).default("auto"),
  weight: z.number().positive().nullable().default(null),
  models: z
    .strictObject({ allow: z.array(z.string()).default(["*"]), deny: z.array(z.string()).default([]) })
    .prefault({}),
  maxConcurrent: wholeNumber(0).default(0),
  apiKey: secret.nullable().default(null),
  /** For engines that a broken connection hurts: when a caller leaves, its answer is read on, up to these limits. */
  drainOnAbort: z.strictObject({ bytes: size.default(0), time: duration.default(0) }).prefault({}),
});

const models = z.strictObject({
  aliases: z.record(modelName, modelName).default({}),
  fallbacks: z.record(modelName, z.array(modelName).min(1, "must name at least one model")).default({}),
  /** How many warm copies of a model are kept, on as many workers. */
  keepWarm: z.record(modelName, wholeNumber(1)).default({}),
});

/** As the farm's `deadlines`; null: as the farm has it. */
const keyDeadlines = z
  .strictObject({ firstByte: duration.nullable().default(null), relax: z.boolean().nullable().default(null) })
  .prefault({});

/** A key of a file. One for agents may ask for no model unless some are named. */
const gatewayKey = accessKey
  .extend({
    deadlines: keyDeadlines,
    /** Agents may register with it. */
    agents: z.boolean().default(false),
    models: z.array(z.string()).optional(),
  })
  .transform((key) => ({ ...key, models: key.models ?? (key.agents ? [] : ["*"]) }));

const shape = z.strictObject({
  listen: listen(8400),
  /** Of one gateway on this machine, which act as one behind one door; auto: as many as it has cores. */
  processes: z.union([z.literal("auto"), wholeNumber(1, MOST_PROCESSES)], PROCESSES_HINT).default(1),
  health: z
    .strictObject({
      interval: positiveDuration.default(5_000),
      timeout: positiveDuration.default(2_000),
      unhealthyAfter: wholeNumber(1).default(3),
      /** Good polls in a row until a worker that was unhealthy is back. */
      healthyAfter: wholeNumber(1).default(1),
    })
    .prefault({}),
  routing: z
    .strictObject({
      strategy: z.enum(["least-connections", "weighted", "round-robin"]).default("least-connections"),
      affinity: z.boolean().default(true),
      waitOrSwap: z.boolean().default(false),
    })
    .prefault({}),
  placement: placementSettings,
  /** deadline: who waits for a slot waits here, and goes in the order in which most are on time. */
  scheduling: z.enum(["greedy", "deadline"]).default("greedy"),
  /** Of `scheduling: deadline`. `firstByte`: for requests that set no deadline themselves; 0: none. */
  deadlines: z.strictObject({ firstByte: duration.default(0), relax: z.boolean().default(false) }).prefault({}),
  workers: z.array(worker, { error: "must be a list of workers (it may be empty)" }),
  models: models.prefault({}),
  keys: z.array(gatewayKey).default([]),
  open: z.boolean().default(false),
  /** mdns: says on the local network where it is, for agents that look for a gateway. */
  discovery: z.strictObject({ mdns: z.boolean().default(false) }).prefault({}),
  operators,
  hosts,
  limits: z
    .strictObject({
      body: size.refine((bytes) => bytes > 0, "must be more than 0").default(100 * 1_024 ** 2),
      queue: wholeNumber(0).default(1_000),
      queueBytes: size.default(1_024 ** 3),
      queueWait: positiveDuration.default(300_000),
      /** Requests under way, those that wait included; 0: as many as come. */
      requests: wholeNumber(0).default(10_000),
      /** Open connections of callers; never more than the system lets the program have, 0: just that. */
      connections: wholeNumber(0).default(10_000),
    })
    .prefault({}),
  timeouts: z
    .strictObject({
      connect: positiveDuration.default(2_000),
      /** Counts from a request's turn: an agent tells each second that it waits for that. So 3 s at least. */
      firstByte: positiveDuration.default(900_000),
      idle: positiveDuration.default(300_000),
      /** How long a caller may send nothing of a request that it has begun, or take nothing of its answer. */
      caller: positiveDuration.default(300_000),
    })
    .prefault({}),
  /** Small embedding requests that come within `batchWindow` are put to a worker as one; 0: none are. */
  embeddings: z
    .strictObject({
      batchWindow: duration.refine((ms) => ms <= 1_000, "must be at most 1s").default(0),
      /** Inputs of one joint request, and bytes of all who share it. */
      batchInputs: wholeNumber(2).default(64),
      batchBytes: size.default(64 * 1_024),
    })
    .prefault({}),
  retry: z
    .strictObject({
      attempts: wholeNumber(1).default(3),
      /** Requests that may be put to one more worker, as a share of all of late; ten a second besides. */
      budget: z.number().min(0).max(1).default(0.2),
    })
    .prefault({}),
  drain: duration.default(300_000),
  /** A streaming caller who waits is sent an SSE comment this often, so that nobody on the way gives up; 0: never. */
  sseComments: duration.default(10_000),
  /** These comments tell what is waited for. */
  loadingStatus: z.boolean().default(false),
  redis: redisSettings,
  telemetry,
  tls: listenerTls,
  cors: z.strictObject({ origins: z.array(z.string().min(1)).default([]) }).prefault({}),
});

type Shape = z.output<typeof shape>;

/** Contract section 2. Durations come out in milliseconds, sizes in bytes. */
export const gatewayConfigSchema = withCrossChecks(shape, [
  { reads: ["workers"], check: checkWorkers },
  { reads: ["models"], check: checkModels },
  { reads: ["keys", "open", "listen"], check: checkDoor },
  { reads: ["keys"], check: checkKeys },
  { reads: ["discovery", "listen"], check: checkDiscovery },
  { reads: ["placement"], check: checkPlacement },
]);
export type GatewayConfig = z.output<typeof gatewayConfigSchema>;

function checkWorkers({ workers }: Shape, report: ReportProblem): void {
  const seen = new Set<string>();
  for (const [i, { name }] of workers.entries()) {
    if (seen.has(name)) report(["workers", i, "name"], `another worker is already named "${name}"`);
    seen.add(name);
  }
}

function checkModels({ models: { aliases, fallbacks, keepWarm } }: Shape, report: ReportProblem): void {
  const aliasKeys = new Set<string>();
  for (const alias of Object.keys(aliases)) {
    if (aliasKeys.has(nameKey(alias))) report(["models", "aliases", alias], "means the same as another alias");
    aliasKeys.add(nameKey(alias));
  }
  for (const [alias, target] of Object.entries(aliases)) {
    if (nameKey(alias) === nameKey(target)) report(["models", "aliases", alias], "names itself");
    else if (aliasKeys.has(nameKey(target))) {
      report(["models", "aliases", alias], `"${target}" is an alias itself: name the model it stands for`);
    }
  }
  for (const [model, others] of Object.entries(fallbacks)) {
    for (const [i, other] of others.entries()) {
      if (nameKey(other) === nameKey(model)) report(["models", "fallbacks", model, i], "falls back on itself");
    }
  }
  const targets = new Map(Object.entries(aliases).map(([alias, target]) => [nameKey(alias), nameKey(target)]));
  const kept = new Map<string, string>();
  for (const model of Object.keys(keepWarm)) {
    const key = targets.get(nameKey(model)) ?? nameKey(model);
    const other = kept.get(key);
    if (other !== undefined) report(["models", "keepWarm", model], `means the same model as "${other}"`);
    kept.set(key, model);
  }
}

function checkDoor(config: Shape, report: ReportProblem): void {
  const fault = doorFault(config);
  if (fault !== null) report(["listen", "host"], fault);
}

function checkDiscovery({ discovery, listen }: Shape, report: ReportProblem): void {
  if (!discovery.mdns || !isLoopback(listen.host)) return;
  report(["discovery", "mdns"], `nobody else reaches ${listen.host}, so that there is nothing to announce`);
}

/** Why it must not listen there; null: it may. */
export function doorFault({ keys, open, listen }: Shape): string | null {
  if (keys.length > 0 || open || isLoopback(listen.host)) return null;
  return `other machines reach ${listen.host} and no keys are set: add \`keys\`, or set \`open: true\` to serve everyone`;
}

/** What of it says who may come in. */
export function accessRules({ keys, listen, operators, hosts, cors }: GatewayConfig): AccessRules {
  return { keys, listen, operators, hosts, origins: cors.origins };
}
