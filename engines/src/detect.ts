import { z } from "zod";
import type { EngineName } from "./catalog.ts";
import { parseJson } from "./error-text.ts";

/** What one detection GET brought; status 0: no status line. */
export interface ProbeAnswer {
  path: string;
  status: number;
  /** The `Server` header; empty when there is none. */
  server: string;
  body: string;
  /** `body` as JSON, parsed once; undefined when it is none or the status is not 2xx. */
  json: unknown;
}

/** A probe's answer as detection reads it. */
export function probeAnswer(path: string, status: number, server: string, body: string): ProbeAnswer {
  const good = status >= 200 && status < 300;
  return { path, status, server, body, json: good ? parseJson(body) : undefined };
}

export type DetectStep =
  | { kind: "probe"; path: string }
  | { kind: "found"; engine: EngineName }
  /** Nothing gave itself away; treated as a generic OpenAI server until it does. */
  | { kind: "unrecognised"; unauthorized: boolean };

/** The GETs that detection uses: none of them loads, wakes or changes anything on any known engine. */
const CATALOG = "/catalog";
const ROOT = "/";
const RUNNING = "/running";
const LMSTUDIO = "/api/v1/models";
const LMSTUDIO_OLDER = "/api/v0/models";
const LOCALAI = "/.well-known/localai.json";
const OLLAMA_VERSION = "/api/version";
const OLLAMA_PS = "/api/ps";
const PROPS = "/props";
const INFO = "/info";
const HEALTH = "/health";
const MODELS = "/v1/models";

/**
 * Which engine answers at an address, as a state machine: given the answers so far, the next GET or the engine.
 * The order matters, since several engines imitate others.
 *
 * 1. `/catalog` with a protocol: a worker agent.
 * 2. A `Server` header that names the engine, on whichever answer came first (llama.cpp sends it while loading too).
 * 3. `/` that says Ollama: Ollama, unless LocalAI stands behind it.
 * 4. A path that one engine alone has: llama-swap, LM Studio, Ollama behind a proxy, llama-server likewise, TEI.
 * 5. A Python standard library server with a plain health route: mlx.
 * 6. Who owns the models of the OpenAI list.
 */
export function nextProbe(answers: readonly ProbeAnswer[]): DetectStep {
  const seen = new Map(answers.map((answer) => [answer.path, answer]));
  const found = (engine: EngineName): DetectStep => ({ kind: "found", engine });
  const next = (path: string): DetectStep => ({ kind: "probe", path });

  // 1, 2
  const catalog = seen.get(CATALOG);
  if (catalog === undefined) return next(CATALOG);
  if (agentCatalog.safeParse(catalog.json).success) return found("agent");
  if (answers.some((answer) => answer.server.toLowerCase().startsWith("llama.cpp"))) return found("llama-server");

  // 3
  const root = seen.get(ROOT);
  if (root === undefined) return next(ROOT);
  if (answers.some((answer) => answer.server.startsWith("ConcedoLlamaForKoboldServer"))) return found("openai");
  const saysOllama = root.body.startsWith("Ollama is running");
  if (saysOllama) {
    const localai = seen.get(LOCALAI);
    if (localai === undefined) return next(LOCALAI);
    return found(isObject(localai.json) ? "openai" : "ollama");
  }

  // 4
  for (const [path, schema, engine] of OWN_PATHS) {
    const answer = seen.get(path);
    if (answer === undefined) return next(path);
    if (!schema.safeParse(answer.json).success) continue;
    if (engine !== "ollama") return found(engine);
    const ps = seen.get(OLLAMA_PS);
    if (ps === undefined) return next(OLLAMA_PS);
    if (modelsArray.safeParse(ps.json).success) return found("ollama");
  }

  // 5
  const python = answers.some((answer) => answer.server.startsWith("BaseHTTP/"));
  const health = seen.get(HEALTH);
  if (python && health === undefined) return next(HEALTH);
  if (python && healthOk.safeParse(health?.json).success) return found("mlx");

  // 6
  const models = seen.get(MODELS);
  if (models === undefined) return next(MODELS);
  const list = ownedList.safeParse(models.json);
  if (list.success) return found(engineOfOwner(list.data.data ?? []));
  const unauthorized = [catalog, models].some((answer) => answer.status === 401 || answer.status === 403);
  return { kind: "unrecognised", unauthorized };
}

const agentCatalog = z.object({ protocol: z.number(), models: z.array(z.unknown()) });
const modelsArray = z.object({ models: z.array(z.unknown()) });
const healthOk = z.object({ status: z.literal("ok") });
const owned = z.object({ owned_by: z.string().nullish().catch(null) }).catch({});
const ownedList = z.object({ data: z.array(owned).max(10_000).nullable() });

/** Paths by which an engine gives itself away, in the order to try them. */
const OWN_PATHS: readonly (readonly [string, z.ZodType, EngineName])[] = [
  [RUNNING, z.object({ running: z.array(z.unknown()) }), "llama-swap"],
  [
    LMSTUDIO,
    z.object({ models: z.array(z.object({ loaded_instances: z.array(z.unknown()) })), data: z.undefined().optional() }),
    "lmstudio",
  ],
  [LMSTUDIO_OLDER, z.object({ data: z.array(z.object({ state: z.string() })) }), "lmstudio"],
  [OLLAMA_VERSION, z.object({ version: z.string() }), "ollama"],
  [PROPS, z.object({ build_info: z.string() }), "llama-server"],
  [INFO, z.object({ model_type: z.unknown().optional(), max_client_batch_size: z.number() }), "tei"],
];

function engineOfOwner(cards: readonly { owned_by?: string | null | undefined }[]): EngineName {
  for (const { owned_by: owner } of cards) {
    if (owner === "vllm") return "vllm";
    if (owner === "llamacpp") return "llama-server";
    if (owner === "llama-swap") return "llama-swap";
  }
  return "openai";
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
