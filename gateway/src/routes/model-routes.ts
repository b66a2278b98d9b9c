import type { FastifyInstance } from "fastify";
import type { Farm } from "../farm.ts";
import { findModel, modelList } from "./model-list.ts";
import { modelListSource } from "./model-list-source.ts";

/** The one catalogue, answered from the cache. */
export function modelRoutes(app: FastifyInstance, farm: Farm): void {
  const sourceFor = modelListSource(farm);
  app.get("/v1/models", async (request) => {
    if (!farm.isReady) await farm.ready;
    return { object: "list", data: modelList(sourceFor(request)) };
  });
  app.get<{ Params: { "*": string } }>("/v1/models/*", async (request) => {
    if (!farm.isReady) await farm.ready;
    return findModel(request.params["*"], sourceFor(request));
  });
}
