import { inferenceApi } from "@farmgate/shared";
import { readBody } from "@farmgate/wire";
import { type Body, countPrompt, planAnswer, type TextApi } from "../decide/answer-plan.ts";
import { modelProps, routerList, routerProps, singleList, slotList } from "../decide/catalogue.ts";
import { type EngineError, engineError, isEngineError, LOADING, NOT_JSON } from "../decide/engine-error.ts";
import type { Ailments } from "../decide/fail-plan.ts";
import type { EngineModel } from "../decide/options.ts";
import { planEmbeddings, planRerank } from "../decide/vectors.ts";
import type { EngineParts } from "./engine-parts.ts";
import { serveText, serveVectors } from "./serve-inference.ts";
import type { Visit } from "./visit.ts";

const BODY_LIMIT = 512 * 1_024 ** 2;
const PUBLIC = new Set(["/health", "/v1/health", "/models", "/v1/models"]);

type Api = TextApi | "embeddings" | "rerank" | "count";

const INFERENCE: Readonly<Record<string, Api>> = {
  "/v1/chat/completions": "chat",
  "/chat/completions": "chat",
  "/v1/completions": "completions",
  "/v1/responses": "responses",
  "/responses": "responses",
  "/v1/messages": "messages",
  "/v1/messages/count_tokens": "count",
  "/v1/embeddings": "embeddings",
  "/v1/rerank": "rerank",
  "/v1/reranking": "rerank",
  "/rerank": "rerank",
  "/reranking": "rerank",
};

/** Answers one request. */
export async function answer(engine: EngineParts, visit: Visit): Promise<void> {
  const bytes = (await readBody(visit.request, BODY_LIMIT)).joined();
  const { method, url = "/", headers } = visit.request;
  engine.seen({ method: method ?? "GET", url, headers, body: bytes, at: engine.clock.now() });
  const ailments = engine.fails().forAnyPath();
  if (ailments.hang) return;
  if (ailments.loading || isSingleLoading(engine)) return visit.writer().error(LOADING);
  const key = engine.options.apiKey;
  if (key !== undefined && !PUBLIC.has(visit.path) && visit.key !== key) {
    return visit.writer().error(engineError(401, "Invalid API Key"));
  }
  if (visit.method === "GET" || visit.method === "HEAD") return answerGet(engine, visit);
  if (visit.method !== "POST") return notFound(visit);
  const inference = speaks(engine, visit.path) ? INFERENCE[visit.path] : undefined;
  if (inference === undefined && !isLoadPath(engine, visit)) return notFound(visit);
  const body = parseBody(bytes);
  if (body === null) return visit.writer().error(NOT_JSON);
  if (inference === undefined) return answerLoad(engine, visit, body);
  answerInference(engine, visit, inference, body);
}

/** Whether the engine has what the path offers; other spellings of its paths go with the one that callers know. */
function speaks({ options }: EngineParts, path: string): boolean {
  const api = inferenceApi(path.startsWith("/v1/") || inferenceApi(path) !== null ? path : `/v1${path}`);
  return options.apis === undefined || (api !== null && options.apis.includes(api));
}

function answerGet(engine: EngineParts, visit: Visit): void {
  const writer = visit.writer();
  const send = (value: unknown) => writer.json(200, JSON.stringify(value));
  const named = visit.query.get("model");
  switch (visit.path) {
    case "/health":
    case "/v1/health":
      return send({ status: "ok" });
    case "/models":
    case "/v1/models": {
      const status = engine.fails().forCatalog();
      return status === null ? send(catalogue(engine)) : writer.error(engineError(status, "simulated failure"));
    }
    case "/props": {
      if (!engine.options.single && named === null) return send(routerProps(engine.options));
      const model = engine.modelNamed(named ?? "");
      if (model === undefined) return writer.error(engineError(400, `model '${named}' not found`));
      return send(modelProps(model, engine.options.slots));
    }
    case "/slots": {
      const model = engine.modelNamed(named ?? "");
      if (model !== undefined) return send(slotList(model, engine.desk.state.slots(model.name)));
      if (named === null) return writer.error(engineError(400, "model name is missing from the request"));
      return writer.error(engineError(400, `model '${named}' not found`));
    }
    case "/metrics":
      return writer.error(engineError(501, "This server does not support metrics endpoint. Start it with `--metrics`"));
    default:
      return notFound(visit);
  }
}

function catalogue(engine: EngineParts): object {
  const created = Math.floor(engine.clock.wall() / 1_000);
  const { models, single } = engine.options;
  if (single && models[0] !== undefined) return singleList(models[0], created);
  const entries = models.map((model) => ({ model, ...engine.desk.state.phase(model.name) }));
  return routerList(entries, created);
}

function isLoadPath(engine: EngineParts, visit: Visit): boolean {
  return !engine.options.single && (visit.path === "/models/load" || visit.path === "/models/unload");
}

function answerLoad(engine: EngineParts, visit: Visit, body: Body): void {
  const writer = visit.writer();
  const name = typeof body["model"] === "string" ? body["model"] : "";
  const model = engine.modelNamed(name);
  const loads = visit.path === "/models/load";
  if (model === undefined) return writer.error(engineError(loads ? 404 : 400, `model '${name}' not found`));
  const error = loads ? engine.desk.load(model.name) : engine.desk.unload(model.name);
  if (error === null) writer.json(200, '{"success":true}');
  else writer.error(error);
}

function answerInference(engine: EngineParts, visit: Visit, api: Api, body: Body): void {
  const model = modelOf(engine, body);
  if (isEngineError(model)) return visit.writer().error(model);
  const ailments = engine.fails().forInference(model.name);
  if (ailments.hang) return visit.onLeft(() => engine.journal.write("left", model.name, visit.id));
  const error = errorOf(ailments);
  if (error !== null) return visit.writer(ailments.resetAfter).error(error);
  if (api === "embeddings" || api === "rerank") {
    const plan = api === "embeddings" ? planEmbeddings(body, model) : planRerank(body, model);
    if (isEngineError(plan)) return visit.writer().error(plan);
    return serveVectors(engine, visit, model.name, plan, ailments);
  }
  if (api === "count") {
    const tokens = countPrompt("messages", body);
    if (typeof tokens === "number") return visit.writer().json(200, JSON.stringify({ input_tokens: tokens }));
    return visit.writer().error(tokens);
  }
  const plan = planAnswer(api, body, model);
  if (isEngineError(plan)) return visit.writer().error(plan);
  serveText(engine, visit, plan, ailments);
}

/** A router looks the name up; a single-model engine serves its own model under any name. */
function modelOf(engine: EngineParts, body: Body): EngineModel | EngineError {
  const name = body["model"];
  if (!engine.options.single && (typeof name !== "string" || name === "")) {
    return engineError(400, "model name is missing from the request");
  }
  return engine.modelNamed(String(name)) ?? engineError(400, `model '${String(name)}' not found`);
}

function errorOf(ailments: Ailments): EngineError | null {
  if (ailments.loading) return LOADING;
  return ailments.status === null ? null : engineError(ailments.status, "simulated failure");
}

/** Null for what is no JSON object. */
function parseBody(bytes: Buffer): Body | null {
  try {
    const body: unknown = JSON.parse(bytes.toString());
    return typeof body === "object" && body !== null && !Array.isArray(body) ? (body as Body) : null;
  } catch {
    return null;
  }
}

function isSingleLoading(engine: EngineParts): boolean {
  return engine.options.single && engine.desk.state.loaded().length === 0;
}

function notFound(visit: Visit): void {
  visit.writer().error(engineError(404, "File Not Found"));
}
