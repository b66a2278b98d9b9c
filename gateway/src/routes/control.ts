import type { Server } from "node:http";
import { apiFamily, errorBody, errorHeaders, FarmError, HEADER, pathOf } from "@farmgate/shared";
import { type Caller, refuseNonsense } from "@farmgate/wire";
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Farm } from "../farm.ts";
import { isAllowedOrigin } from "../http/cors.ts";
import type { Handler } from "../http/door.ts";
import { farmRoutes } from "./farm-routes.ts";
import { healthRoutes } from "./health-routes.ts";
import { modelRoutes } from "./model-routes.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Who asks; set before a handler runs, but on the paths that need no key. */
    caller: Caller;
  }
}

/** Paths that answer without a key. */
const OPEN_PATHS: ReadonlySet<string> = new Set(["/", "/health", "/livez", "/readyz"]);

/** A request's id or a worker's name, percent-encoded, is no longer. */
const MAX_PARAM = 2_000;

/** Every path but inference, on fastify without a server of its own: `serverFor` gets its handler. */
export async function createControl(farm: Farm, serverFor: (handler: Handler) => Server): Promise<FastifyInstance> {
  const app: FastifyInstance = fastify({
    logger: false,
    bodyLimit: 64 * 1_024,
    routerOptions: { maxParamLength: MAX_PARAM },
    serverFactory: (handler) => serverFor(handler),
    clientErrorHandler: refuseNonsense,
    frameworkErrors: (error, request, reply) => sendError(request, reply, asFarmError(farm, request, error)),
  });
  app.decorateRequest("caller", null as unknown as Caller);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.addHook("onRequest", async (request) => {
    const { url } = request.routeOptions;
    const { origin } = request.headers;
    if (url === undefined || OPEN_PATHS.has(url)) return;
    request.caller = farm.keys.identify(request.headers);
    // A page from elsewhere can send a POST without reading its answer; it must not change the farm that way.
    const changes = request.method === "POST" || request.method === "DELETE";
    if (changes && origin !== undefined && !isAllowedOrigin(origin, farm.config.cors.origins)) {
      throw new FarmError("forbidden", `Pages of ${origin.slice(0, 200)} may not change this farm (see cors.origins).`);
    }
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { method, url } = request;
    farm.log.debug({ method, path: pathOf(url), status: reply.statusCode, by: request.caller?.name }, "control");
    done();
  });
  app.setErrorHandler((error: FastifyError | FarmError, request, reply) =>
    sendError(request, reply, asFarmError(farm, request, error)),
  );
  app.setNotFoundHandler((request, reply) => {
    sendError(request, reply, new FarmError("not_found", `There is nothing at ${pathOf(request.url).slice(0, 200)}.`));
  });
  const methods = collectMethods(app);
  healthRoutes(app, farm);
  modelRoutes(app, farm);
  farmRoutes(app, farm);
  refuseOtherMethods(app, methods);
  await app.ready();
  return app;
}

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

function collectMethods(app: FastifyInstance): Map<string, Set<string>> {
  const byUrl = new Map<string, Set<string>>();
  app.addHook("onRoute", ({ url, method }) => {
    const methods = byUrl.get(url) ?? new Set();
    for (const one of [method].flat()) methods.add(one);
    byUrl.set(url, methods);
  });
  return byUrl;
}

/** 405 with `allow` on every path that is there for other methods. */
function refuseOtherMethods(app: FastifyInstance, known: ReadonlyMap<string, ReadonlySet<string>>): void {
  for (const [url, taken] of known) {
    const allowed = [...taken].join(", ");
    const method = METHODS.filter((candidate) => !taken.has(candidate));
    app.route({
      method,
      url,
      handler(request, reply) {
        void reply.header("allow", allowed);
        const message = `${pathOf(request.url).slice(0, 200)} takes ${allowed}.`;
        sendError(request, reply, new FarmError("method_not_allowed", message));
      },
    });
  }
}

function sendError(request: FastifyRequest, reply: FastifyReply, error: FarmError): void {
  const requestId = String(reply.raw.getHeader(HEADER.requestId) ?? "");
  void reply.headers(errorHeaders(error));
  if (error.code === "invalid_api_key") void reply.header("www-authenticate", "Bearer");
  void reply.code(error.status).send(errorBody(apiFamily(pathOf(request.url)), error, requestId));
}

function asFarmError(farm: Farm, request: FastifyRequest, error: Error & { statusCode?: number }): FarmError {
  if (error instanceof FarmError) return error;
  const status = error.statusCode ?? 500;
  if (status === 413) return new FarmError("body_too_large", "The request body is over the limit.");
  if (status >= 400 && status < 500) return new FarmError("invalid_request", error.message.slice(0, 300));
  farm.log.error({ err: error, path: pathOf(request.url) }, "a control path failed");
  return new FarmError("internal", "The gateway failed on this request; its log says more.");
}
