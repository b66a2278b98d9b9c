import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { apiFamily, errorBody, errorHeaders, FarmError, HEADER, pathOf } from "@farmgate/shared";
import fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { Access, Visitor } from "./access.ts";
import type { Log } from "./log.ts";
import { refuseNonsense } from "./refuse-nonsense.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Who asks; set before a handler runs, but on the paths that need no key. */
    caller: Visitor;
  }
}

export type HttpHandler = (request: IncomingMessage, response: ServerResponse) => void;

/** A model's or worker's name, or a request's id, percent-encoded, is no longer. */
const MAX_PARAM = 2_000;
/** Bytes of a body: these paths take little or nothing. */
const MAX_BODY = 64 * 1_024;

/** Characters of a path in a log line. */
const MAX_PATH = 500;

export interface ControlOptions {
  /** The server that gives each answer its `x-request-id` and then calls the handler. */
  serverFor(handler: HttpHandler): Server;
  access: Access;
  /** Paths that answer without a key. */
  open: ReadonlySet<string>;
  /** Whether a path shows or changes the inside of the program. `route` as it was added, `path` as it was asked for. */
  isInside(route: string, path: string): boolean;
  log: Log;
}

/** Every path but inference, on fastify: keys, errors in one shape, and 405 where only the method is wrong. */
export async function createControlApp(
  options: ControlOptions,
  addRoutes: (app: FastifyInstance) => void,
): Promise<FastifyInstance> {
  const { access, open, log } = options;
  const sendThrown = (error: FastifyError | FarmError, request: FastifyRequest, reply: FastifyReply) =>
    sendError(request, reply, asFarmError(log, request, error));
  const app: FastifyInstance = fastify({
    logger: false,
    bodyLimit: MAX_BODY,
    routerOptions: { maxParamLength: MAX_PARAM },
    serverFactory: (handler) => options.serverFor(handler),
    clientErrorHandler: refuseNonsense,
    frameworkErrors: sendThrown,
  });
  app.decorateRequest("caller", null as unknown as Visitor);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  app.addHook("onRequest", async (request) => {
    const { url } = request.routeOptions;
    const { origin } = request.headers;
    if (url === undefined) return;
    if (url === "/") access.checkPage(request.raw);
    if (open.has(url)) return;
    request.caller = access.visit(request.raw, options.isInside(url, pathOf(request.url)));
    // A page from elsewhere can send a POST without reading its answer; it must not change anything that way.
    const changes = request.method === "POST" || request.method === "DELETE";
    if (changes && origin !== undefined && !access.isOwnPage(origin)) {
      throw new FarmError("forbidden", `Pages of ${origin.slice(0, 200)} may not change anything here.`);
    }
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { method, url } = request;
    log.debug(
      { method, path: pathOf(url).slice(0, MAX_PATH), status: reply.statusCode, by: request.caller?.name },
      "control",
    );
    done();
  });
  app.setErrorHandler(sendThrown);
  app.setNotFoundHandler((request, reply) => {
    sendError(request, reply, new FarmError("not_found", `There is nothing at ${pathOf(request.url).slice(0, 200)}.`));
  });
  const methods = collectMethods(app);
  addRoutes(app);
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
  void reply.code(error.status).send(errorBody(apiFamily(pathOf(request.url), request.headers), error, requestId));
}

function asFarmError(log: Log, request: FastifyRequest, error: Error & { statusCode?: number }): FarmError {
  if (error instanceof FarmError) return error;
  const status = error.statusCode ?? 500;
  if (status === 413) return new FarmError("body_too_large", "The request body is over the limit.");
  if (status >= 400 && status < 500) return new FarmError("invalid_request", error.message.slice(0, 300));
  log.error({ err: error, path: pathOf(request.url).slice(0, MAX_PATH) }, "a control path failed");
  return new FarmError("internal", "This program failed on the request; its log says more.");
}
