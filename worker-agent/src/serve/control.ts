import type { IncomingMessage } from "node:http";
import { apiFamily, type Clock, errorBody, errorHeaders, FarmError, HEADER, pathOf } from "@farmgate/shared";
import { type Caller, type KeyRing, type Log, refuseNonsense } from "@farmgate/wire";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyServerFactory } from "fastify";
import type { Executor } from "../executor.ts";
import type { Learned } from "../learned.ts";
import type { AgentMetrics } from "../metrics.ts";
import type { ModelBook, ServedModel } from "../served-model.ts";
import { catalogOf, healthOf, type Identity } from "../status.ts";
import { allowedModel, mayUse } from "./allowed-model.ts";
import { requestIdOf } from "./asked.ts";
import type { ModelOrders } from "./model-orders.ts";

export interface ControlContext {
  identity: Identity;
  models: ModelBook;
  keys: KeyRing;
  executor: Executor;
  orders: ModelOrders;
  learned: Learned;
  metrics: AgentMetrics;
  clock: Clock;
  log: Log;
}

/** The methods of each path that is not inference; a path that ends with a slash stands for all below it. */
const PATHS: readonly [path: string, methods: string][] = [
  ["/health", "GET, HEAD"],
  ["/catalog", "GET, HEAD"],
  ["/metrics", "GET, HEAD"],
  ["/v1/models", "GET, HEAD"],
  ["/v1/models/", "GET, HEAD"],
  ["/models/", "POST"],
  ["/drain", "POST"],
  ["/resume", "POST"],
];

/** Everything but inference: what the agent knows, and what an operator may order. */
export function buildControl(context: ControlContext, serverFactory: FastifyServerFactory): FastifyInstance {
  const app = fastify({
    serverFactory,
    clientErrorHandler: refuseNonsense,
    logger: false,
    genReqId: (request: IncomingMessage) => requestIdOf(request.headers),
    frameworkErrors: (error, request, reply) => {
      const { status, headers, body } = told(asFarmError(error, context.log), request);
      void (reply as FastifyReply).code(status).headers(headers).send(body);
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.setErrorHandler((thrown, request, reply) => {
    const { status, headers, body } = told(asFarmError(thrown, context.log), request);
    return reply.code(status).headers(headers).send(body);
  });
  app.setNotFoundHandler((request, reply) => {
    const path = pathOf(request.url);
    const methods = PATHS.find(([known]) => (known.endsWith("/") ? path.startsWith(known) : path === known))?.[1];
    if (methods === undefined) throw new FarmError("not_found", `There is nothing at ${path.slice(0, 200)}.`);
    void reply.header("allow", methods);
    throw new FarmError("method_not_allowed", `${path} takes ${methods}, not ${request.method}.`);
  });
  addReading(app, context);
  addOrders(app, context);
  return app;
}

function addReading(app: FastifyInstance, context: ControlContext): void {
  const { identity, models, keys, executor, learned, metrics, clock } = context;
  const startedAt = clock.now();
  const created = Math.floor(clock.wall() / 1_000);
  const entry = (id: string) => ({ id, object: "model", created, owned_by: "farmgate" });

  app.get("/health", () => healthOf(executor.view(), learned, clock.now() - startedAt));
  app.get("/catalog", (request) => {
    keys.identify(request.headers);
    return catalogOf(identity, models.models, executor.view(), learned);
  });
  app.get("/metrics", async (request, reply) => {
    keys.identify(request.headers);
    return reply.type(metrics.contentType).send(await metrics.text(executor.view()));
  });
  app.get("/v1/models", (request) => {
    const caller = keys.identify(request.headers);
    const open = models.models.filter((model) => mayUse(caller, model));
    return { object: "list", data: open.flatMap((model) => [model.name, ...model.aliases]).map(entry) };
  });
  app.get("/v1/models/*", (request) => {
    const caller = keys.identify(request.headers);
    const spelling = decoded(pathOf(request.raw.url ?? "").slice("/v1/models/".length));
    return entry(allowedModel(spelling, models, caller).name);
  });
}

function addOrders(app: FastifyInstance, context: ControlContext): void {
  const { models, keys, executor, orders } = context;
  app.post("/models/*", async (request, reply) => {
    const caller = keys.identify(request.headers);
    const match = /^\/models\/(.+)\/(load|unload)$/.exec(pathOf(request.raw.url ?? ""));
    if (match === null) throw new FarmError("not_found", "There are /models/{id}/load and /models/{id}/unload.");
    const model = allowedModel(decoded(match[1] ?? ""), models, caller);
    if (match[2] === "load") {
      orders.load(model, request.id);
      return reply.code(202).send({ model: model.name, state: stateOf(executor, model) });
    }
    onlyAdmins(caller);
    await orders.unload(model, request.id);
    return { model: model.name, state: stateOf(executor, model) };
  });
  for (const order of ["drain", "resume"] as const) {
    app.post(`/${order}`, (request) => {
      onlyAdmins(keys.identify(request.headers));
      executor.tell({ type: order });
      context.log.info({ request_id: request.id }, order === "drain" ? "draining by order" : "resumed by order");
      return { draining: executor.view().draining };
    });
  }
}

function onlyAdmins(caller: Caller): void {
  if (caller.key === null || caller.key.admin) return;
  throw new FarmError("forbidden", `The key "${caller.name}" is no admin key.`);
}

function stateOf(executor: Executor, model: ServedModel): string {
  return executor.view().models.find((state) => state.name === model.name)?.state ?? "unknown";
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new FarmError("invalid_request", "The path is not well encoded.");
  }
}

function asFarmError(thrown: unknown, log: Log): FarmError {
  if (thrown instanceof FarmError) return thrown;
  const { statusCode, message } = thrown as { statusCode?: number; message?: string };
  if (statusCode === 413) return new FarmError("body_too_large", "The body is too large for this path.");
  if (statusCode !== undefined && statusCode < 500)
    return new FarmError("invalid_request", (message ?? "").slice(0, 300));
  log.error({ err: thrown }, "a request failed by a fault of the agent");
  return new FarmError("internal", "The agent failed on this request; its log says why.");
}

function told(error: FarmError, { id, url }: { id: string; url: string }) {
  return {
    status: error.status,
    headers: { ...errorHeaders(error), [HEADER.requestId]: id, "content-type": "application/json" },
    body: errorBody(apiFamily(pathOf(url)), error, id),
  };
}
