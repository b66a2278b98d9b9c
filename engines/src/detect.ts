import { parseJson } from "@farmgate/shared";
import { z } from "zod";
import type { EngineName } from "./catalog.ts";

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

/**
 * The GETs that detection uses: none of them loads, wakes or changes anything on any known engine. Others do: among
 * them `/unload` (llama-swap), `/models?reload=1`, `/slots` and `/props` with a model (llama-server),
 * `/health_generate` (SGLang) and all below `/upstream/` (llama-swap).
 */
const CATALOG = "/catalog";
const ROOT = "/";
const LOCALAI = "/.well-known/localai.json";
const RUNNING = "/running";
const LMSTUDIO = "/api/v1/models";
const LMSTUDIO_OLDER = "/api/v0/models";
const LEMONADE = "/v1/health";
const KOBOLDCPP = "/api/extra/version";
const OLLAMA_VERSION = "/api/version";
const OLLAMA_PS = "/api/ps";
const PROPS = "/props";
const INFO = "/info";
const HEALTH = "/health";
const MODELS = "/v1/models";

/** How the `Server` header of an engine begins that names itself there, whatever path is asked. */
const SERVERS: readonly (readonly [start: string, engine: EngineName])[] = [
  ["llama.cpp", "llama-server"],
  ["whisper.cpp", "whisper"],
  ["concedollamaforkoboldserver", "koboldcpp"],
];

/**
 * Which engine answers at an address, as a state machine: given the answers so far, the next GET or the engine.
 * The order matters, since several engines imitate others.
 *
 * 1. `/catalog` with a protocol: a worker agent.
 * 2. A `Server` header that names the engine, on whichever answer came (llama.cpp sends it while loading too).
 * 3. A path that one engine alone has, those that imitate others before those that they imitate: LocalAI, llama-swap,
 *    LM Studio, Lemonade, KoboldCpp, then Ollama, llama-server behind a proxy, TEI, TGI. Where `/` says Ollama, only
 *    its imitators are asked for.
 * 4. A Python standard library server with a plain health route: mlx.
 * 5. Who owns the models of the OpenAI list.
 */
export function nextProbe(answers: readonly ProbeAnswer[]): DetectStep {
  const seen = new Map(answers.map((answer) => [answer.path, answer]));
  const found = (engine: EngineName): DetectStep => ({ kind: "found", engine });
  const next = (path: string): DetectStep => ({ kind: "probe", path });

  // 1, 2
  const catalog = seen.get(CATALOG);
  if (catalog === undefined) return next(CATALOG);
  if (agentCatalog.safeParse(catalog.json).success) return found("agent");
  const named = engineOfServer(answers);
  if (named !== null) return found(named);
  const root = seen.get(ROOT);
  if (root === undefined) return next(ROOT);

  // 3
  const saysOllama = root.body.startsWith("Ollama is running");
  for (const [path, schema, engine] of OWN_PATHS) {
    if (saysOllama && !IMITATORS.has(engine)) continue;
    const answer = seen.get(path);
    if (answer === undefined) return next(path);
    if (schema.safeParse(answer.json).success) return found(engine);
  }
  if (saysOllama) return found("ollama");
  for (const [path, schema, engine] of OTHER_PATHS) {
    const answer = seen.get(path);
    if (answer === undefined) return next(path);
    if (!schema.safeParse(answer.json).success) continue;
    if (engine !== "ollama") return found(engine);
    const ps = seen.get(OLLAMA_PS);
    if (ps === undefined) return next(OLLAMA_PS);
    if (modelsArray.safeParse(ps.json).success) return found("ollama");
  }

  // 4
  const python = answers.some((answer) => answer.server.startsWith("BaseHTTP/"));
  const health = seen.get(HEALTH);
  if (python && health === undefined) return next(HEALTH);
  if (python && healthOk.safeParse(health?.json).success) return found("mlx");

  // 5
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

type OwnPath = readonly [path: string, answers: z.ZodType, engine: EngineName];

/** Paths by which an engine gives itself away, in the order to try them; the first ones before Ollama's own. */
const OWN_PATHS: readonly OwnPath[] = [
  [
    LOCALAI,
    z.object({ version: z.string() }).or(z.object({ endpoints: z.record(z.string(), z.unknown()) })),
    "localai",
  ],
  [RUNNING, z.object({ running: z.array(z.unknown()) }), "llama-swap"],
  [
    LMSTUDIO,
    z.object({ models: z.array(z.object({ loaded_instances: z.array(z.unknown()) })), data: z.undefined().optional() }),
    "lmstudio",
  ],
  [LMSTUDIO_OLDER, z.object({ data: z.array(z.object({ state: z.string() })) }), "lmstudio"],
  [LEMONADE, z.object({ all_models_loaded: z.array(z.unknown()) }), "lemonade"],
  [KOBOLDCPP, z.object({ result: z.literal("KoboldCpp") }), "koboldcpp"],
];
const OTHER_PATHS: readonly OwnPath[] = [
  [OLLAMA_VERSION, z.object({ version: z.string() }), "ollama"],
  [PROPS, z.object({ build_info: z.string() }), "llama-server"],
  [INFO, z.object({ model_type: z.unknown(), max_client_batch_size: z.number() }), "tei"],
  [
    INFO,
    z
      .object({ model_id: z.string() })
      .and(z.object({ max_total_tokens: z.number() }).or(z.object({ router: z.string() }))),
    "tgi",
  ],
];
/** These say "Ollama is running" too, or may. */
const IMITATORS: ReadonlySet<EngineName> = new Set(["localai", "lemonade", "koboldcpp"]);

/** Whom the OpenAI list of an engine names as the owner of its models. */
const OWNERS: ReadonlyMap<string, EngineName> = new Map([
  ["vllm", "vllm"],
  ["sglang", "sglang"],
  ["llamacpp", "llama-server"],
  ["llama-swap", "llama-swap"],
  ["koboldcpp", "koboldcpp"],
  ["lemonade", "lemonade"],
  ["jano", "jano"],
]);

function engineOfServer(answers: readonly ProbeAnswer[]): EngineName | null {
  for (const { server } of answers) {
    const name = server.toLowerCase();
    for (const [start, engine] of SERVERS) if (name.startsWith(start)) return engine;
  }
  return null;
}

function engineOfOwner(cards: readonly { owned_by?: string | null | undefined }[]): EngineName {
  for (const { owned_by: owner } of cards) {
    const engine = OWNERS.get(owner ?? "");
    if (engine !== undefined) return engine;
  }
  return "openai";
}
