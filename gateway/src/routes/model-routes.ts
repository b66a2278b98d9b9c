import type { FastifyInstance, FastifyRequest } from "fastify";
import { apiFamily, pathOf } from "@farmgate/shared";
import { allowedModels } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import { anthropicModel, anthropicPage, type PageQuery } from "./anthropic-models.ts";
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
  app.get<{ Querystring: PageQuery }>("/v1/models", async (request) => {
    if (!farm.isReady) await farm.ready;
    const data = modelList(sourceFor(request));
    return isForAnthropic(request) ? anthropicPage(data, request.query) : { object: "list", data };
  });
  app.get<{ Params: { "*": string } }>("/v1/models/*", async (request) => {
    if (!farm.isReady) await farm.ready;
    const entry = findModel(request.params["*"], sourceFor(request));
    return isForAnthropic(request) ? anthropicModel(entry) : entry;
  });
}

/** The path is OpenAI's and Anthropic's: who tells Anthropic's version of it reads its form. */
function isForAnthropic({ url, headers }: FastifyRequest): boolean {
  return apiFamily(pathOf(url), headers) === "anthropic";
}
