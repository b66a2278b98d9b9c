import type { FastifyInstance, FastifyRequest } from "fastify";
import { allowedModels } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import { findModel, modelList, type ModelListSource } from "./model-list.ts";

/** The one catalogue, answered from the cache. */
export function modelRoutes(app: FastifyInstance, farm: Farm): void {
  const created = Math.floor(farm.clock.wall() / 1_000);
  const sourceFor = (request: FastifyRequest): ModelListSource => ({
    catalog: farm.catalog.current,
    names: farm.names,
    patterns: allowedModels(request.caller),
    created,
  });
  app.get("/v1/models", async (request) => {
    if (!farm.isReady) await farm.ready;
    return { object: "list", data: modelList(sourceFor(request)) };
  });
  app.get<{ Params: { "*": string } }>("/v1/models/*", async (request) => {
    if (!farm.isReady) await farm.ready;
    return findModel(request.params["*"], sourceFor(request));
  });
}
