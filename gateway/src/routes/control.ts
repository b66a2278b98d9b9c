import type { Server } from "node:http";
import { createControlApp, type HttpHandler } from "@farmgate/wire";
import type { FastifyInstance } from "fastify";
import type { Farm } from "../farm.ts";
import { farmRoutes } from "./farm-routes.ts";
import { healthRoutes } from "./health-routes.ts";
import { modelRoutes } from "./model-routes.ts";
import { ollamaRoutes } from "./ollama-routes.ts";

/** Paths that answer without a key. */
const OPEN_PATHS: ReadonlySet<string> = new Set(["/", "/health", "/livez", "/readyz"]);

/** Every path but inference; `serverFor` gets their handler. */
export function createControl(farm: Farm, serverFor: (handler: HttpHandler) => Server): Promise<FastifyInstance> {
  const { keys, log } = farm;
  const options = { serverFor, keys, log, open: OPEN_PATHS, origins: () => farm.config.cors.origins };
  return createControlApp(options, (app) => {
    healthRoutes(app, farm);
    modelRoutes(app, farm);
    ollamaRoutes(app, farm);
    farmRoutes(app, farm);
  });
}
