import { API_NAMES, apiForm, inferenceApi } from "@farmgate/shared";
import { type CallerSocket, readBody } from "@farmgate/wire";
import type { Body } from "../decide/answer-plan.ts";
import { modelProps, routerList, routerProps, singleList, slotList } from "../decide/catalogue.ts";
import { type EngineError, engineError, LOADING, NOT_JSON } from "../decide/engine-error.ts";
import { answerInference, isInference } from "./answer-inference.ts";
import type { EngineParts } from "./engine-parts.ts";
import { readForm } from "./form-body.ts";
import { serveRealtime } from "./serve-realtime.ts";
import type { Visit } from "./visit.ts";

const BODY_LIMIT = 512 * 1_024 ** 2;
const PUBLIC = new Set(["/health", "/v1/health", "/models", "/v1/models"]);

/** Answers one request. */
export async function answer(engine: EngineParts, visit: Visit): Promise<void> {
  const bytes = (await readBody(visit.request, BODY_LIMIT)).joined();
  const { method, url = "/", headers } = visit.request;
  engine.seen({ method: method ?? "GET", url, headers, body: bytes, at: engine.clock.now() });
  const ailments = engine.fails().forAnyPath();
  if (ailments.hang) return;
  if (ailments.loading || isSingleLoading(engine)) return visit.writer().error(LOADING);
  const wrong = wrongKey(engine, visit);
  if (wrong !== null) return visit.writer().error(wrong);
  if (visit.method === "GET" || visit.method === "HEAD") return answerGet(engine, visit);
  if (visit.method !== "POST") return notFound(visit);
  const infers = isInference(visit.path) && speaks(engine, visit.path);
  if (!infers && !isLoadPath(engine, visit)) return notFound(visit);
  const type = headers["content-type"] ?? "";
  const body = type.startsWith("multipart/form-data") ? await readForm(bytes, type) : parseBody(bytes);
  if (body === null) return visit.writer().error(NOT_JSON);
  if (infers) answerInference(engine, visit, body);
  else answerLoad(engine, visit, body);
}

/** Answers a request to turn its connection into a WebSocket. */
export function answerSocket(engine: EngineParts, visit: Visit, caller: CallerSocket): void {
  const { method = "GET", url = "/", headers } = visit.request;
  engine.seen({ method, url, headers, body: Buffer.alloc(0), at: engine.clock.now() });
  const ailments = engine.fails().forAnyPath();
  if (ailments.hang) return;
  const refused = ailments.loading || isSingleLoading(engine) ? LOADING : wrongKey(engine, visit);
  if (refused !== null) return visit.writer().error(refused);
  if (visit.path !== "/v1/realtime" || !speaks(engine, visit.path)) return notFound(visit);
  serveRealtime(engine, visit, caller);
}

function wrongKey({ options }: EngineParts, visit: Visit): EngineError | null {
  if (options.apiKey === undefined || PUBLIC.has(visit.path) || visit.key === options.apiKey) return null;
  return engineError(401, "Invalid API Key");
}

/** Whether the engine has what the path offers; other spellings of its paths go with the one that callers know. */
function speaks({ options }: EngineParts, path: string): boolean {
  const api = API_NAMES.find((name) => apiForm(name).path === path) ?? inferenceApi(`/v1${path}`);
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
  const { models, single, apis } = engine.options;
  if (single && models[0] !== undefined) return singleList(models[0], created, apis);
  const entries = models.map((model) => ({ model, ...engine.desk.state.phase(model.name) }));
  return routerList(entries, created, apis);
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
