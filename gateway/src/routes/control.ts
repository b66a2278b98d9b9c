import type { Server } from "node:http";
import { createControlApp, type HttpHandler } from "@farmgate/wire";
import type { FastifyInstance } from "fastify";
import type { Farm } from "../farm.ts";
import { farmRoutes } from "./farm-routes.ts";
import { healthRoutes } from "./health-routes.ts";
import { modelRoutes } from "./model-routes.ts";
import { ollamaRoutes } from "./ollama-routes.ts";
import { registerRoutes } from "./register-routes.ts";
import { traceRoute } from "./trace-route.ts";

/** Paths that answer without a key. */
const OPEN_PATHS: ReadonlySet<string> = new Set(["/", "/health", "/livez", "/readyz"]);

/** What the farm is doing and has done, and what changes it. */
function isInside(route: string): boolean {
  return route === "/metrics" || route.startsWith("/farm/");
}

/** Every path but inference; `serverFor` gets their handler. */
export function createControl(farm: Farm, serverFor: (handler: HttpHandler) => Server): Promise<FastifyInstance> {
  const { access, log } = farm;
  const options = { serverFor, access, log, open: OPEN_PATHS, isInside };
  return createControlApp(options, (app) => {
    registerRoutes(app, farm);
    healthRoutes(app, farm);
    modelRoutes(app, farm);
    ollamaRoutes(app, farm);
    farmRoutes(app, farm);
    traceRoute(app, farm);
  });
}
