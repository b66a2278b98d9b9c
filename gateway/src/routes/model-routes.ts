import type { FastifyInstance, FastifyRequest } from "fastify";
import { apiFamily, pathOf } from "@farmgate/shared";
import type { Farm } from "../farm.ts";
import { anthropicModel, anthropicPage, type PageQuery } from "./anthropic-models.ts";
import { findModel, modelList } from "./model-list.ts";
import { modelListSource } from "./model-list-source.ts";

/** The one catalogue, answered from the cache. */
export function modelRoutes(app: FastifyInstance, farm: Farm): void {
  const sourceFor = modelListSource(farm);
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
