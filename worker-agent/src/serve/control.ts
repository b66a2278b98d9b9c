import type { Server } from "node:http";
import { type Clock, FarmError, HEADER, pathOf } from "@farmgate/shared";
import { type Access, createControlApp, type HttpHandler, type Log, type Visitor } from "@farmgate/wire";
import type { FastifyInstance, FastifyReply } from "fastify";
import type { Executor } from "../executor.ts";
import type { FileKeeper } from "../files/file-keeper.ts";
import type { Learned } from "../figures/learned.ts";
import type { AgentMetrics } from "../metrics.ts";
import type { ModelBook, ServedModel } from "../served-model.ts";
import { catalogOf, type EngineStatus, healthOf, type Identity, type Moment, waitBounds } from "../status.ts";
import { allowedModel, mayUse } from "./allowed-model.ts";
import { linesOf, type ReadLog } from "./model-log.ts";
import { addFiles } from "./file-routes.ts";
import { decoded } from "./decoded.ts";
import type { ModelOrders } from "./model-orders.ts";
import { OrderFence } from "./order-fence.ts";

export interface ControlContext {
  identity: Identity;
  models: ModelBook;
  access: Access;
  executor: Executor;
  orders: ModelOrders;
  /** null: no folder of models is named. */
  files: FileKeeper | null;
  learned: Learned;
  /** The agent as it is now. */
  moment: () => Moment;
  /** The attached engines. */
  engines: () => readonly EngineStatus[];
  metrics: AgentMetrics;
  /** Why nothing is taken any more, for good; null: the agent does not stop. */
  stopping: () => FarmError | null;
  readLog: ReadLog;
  clock: Clock;
  log: Log;
}

const MODEL_PATHS = "There are /models/{id}/load, /models/{id}/unload and /models/{id}/log.";

const OPEN_PATHS: ReadonlySet<string> = new Set(["/health"]);

/** What is not for a gateway, which reads the catalogue and orders loads. */
function isInside(route: string, path: string): boolean {
  return INSIDE_PATHS.has(route) || (route === "/models/*" && /\/(log|unload)$/.test(path));
}

const INSIDE_PATHS: ReadonlySet<string> = new Set(["/metrics", "/drain", "/resume"]);

/** Everything but inference: what the agent knows, and what an operator may order. `serverFor` gets the handler. */
export function createControl(
  context: ControlContext,
  serverFor: (handler: HttpHandler) => Server,
): Promise<FastifyInstance> {
  const { access, log } = context;
  return createControlApp({ serverFor, access, log, open: OPEN_PATHS, isInside }, (app) => {
    addReading(app, context);
    addOrders(app, context);
    addFiles(app, context);
  });
}

function addReading(app: FastifyInstance, context: ControlContext): void {
  const { identity, models, executor, learned, metrics, clock } = context;
  const startedAt = clock.now();
  const created = Math.floor(clock.wall() / 1_000);
  const entry = (id: string) => ({ id, object: "model", created, owned_by: "farmgate" });

  app.get("/health", () => healthOf(identity, executor.view(), learned, context.engines(), clock.now() - startedAt));
  app.get("/catalog", () => catalogOf(identity, context.moment()));
  app.get("/metrics", async (_request, reply) => {
    const moment = context.moment();
    return reply.type(metrics.contentType).send(await metrics.text(moment.view, waitBounds(moment)));
  });
  app.get("/v1/models", ({ caller }) => {
    const open = models.models.filter((model) => mayUse(caller, model));
    return { object: "list", data: open.flatMap((model) => [model.name, ...model.aliases]).map(entry) };
  });
  app.get("/v1/models/*", ({ caller, url }) => {
    const spelling = decoded(pathOf(url).slice("/v1/models/".length));
    return entry(allowedModel(spelling, models, caller).name);
  });
  app.get("/models/*", async ({ caller, url, query }, reply) => {
    const match = /^\/models\/(.+)\/(log|load|unload)$/.exec(pathOf(url));
    if (match === null) throw new FarmError("not_found", MODEL_PATHS);
    if (match[2] !== "log") refuseMethod(reply, "POST", url);
    onlyAdmins(caller);
    const model = allowedModel(decoded(match[1] ?? ""), models, caller);
    const text = await context.readLog(model, linesOf((query as Record<string, unknown>)["lines"]));
    return reply.type("text/plain; charset=utf-8").header("x-content-type-options", "nosniff").send(text);
  });
}

function addOrders(app: FastifyInstance, context: ControlContext): void {
  const { models, executor, orders, clock } = context;
  const fence = new OrderFence();
  app.post("/models/*", async ({ caller, url, headers }, reply) => {
    const match = /^\/models\/(.+)\/(log|load|unload)$/.exec(pathOf(url));
    if (match === null) throw new FarmError("not_found", MODEL_PATHS);
    if (match[2] === "log") refuseMethod(reply, "GET, HEAD", url);
    const model = allowedModel(decoded(match[1] ?? ""), models, caller);
    if (match[2] === "unload") onlyAdmins(caller);
    fence.pass(headers[HEADER.fence], clock.now());
    if (match[2] === "load") {
      orders.load(model, requestId(reply));
      return reply.code(202).send({ model: model.name, state: stateOf(executor, model) });
    }
    await orders.unload(model, requestId(reply));
    return { model: model.name, state: stateOf(executor, model) };
  });
  for (const order of ["drain", "resume"] as const) {
    app.post(`/${order}`, ({ caller }, reply) => {
      onlyAdmins(caller);
      const stopping = context.stopping();
      if (stopping !== null && order === "resume") throw stopping;
      executor.tell({ type: order });
      context.log.info({ request_id: requestId(reply) }, order === "drain" ? "draining by order" : "resumed by order");
      return { draining: executor.view().draining };
    });
  }
}

function refuseMethod(reply: FastifyReply, allowed: string, url: string): never {
  void reply.header("allow", allowed);
  throw new FarmError("method_not_allowed", `${pathOf(url).slice(0, 200)} takes ${allowed}.`);
}

function requestId(reply: FastifyReply): string {
  return String(reply.raw.getHeader(HEADER.requestId));
}

function onlyAdmins({ changes, key }: Visitor): void {
  if (changes) return;
  throw new FarmError(
    "forbidden",
    key === null ? "This needs an admin key." : `The key "${key.name}" is no admin key.`,
  );
}

function stateOf(executor: Executor, model: ServedModel): string {
  return executor.view().models.find((state) => state.name === model.name)?.state ?? "unknown";
}
