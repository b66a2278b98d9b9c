import { allowedModels } from "@farmgate/wire";
import type { FastifyRequest } from "fastify";
import type { Farm } from "../farm.ts";
import type { ModelListSource } from "./model-list.ts";

/** What a list of models is made of for one request; all models count as made when the gateway started. */
export function modelListSource(farm: Farm): (request: FastifyRequest) => ModelListSource {
  const created = Math.floor(farm.clock.wall() / 1_000);
  return (request) => ({
    catalog: farm.catalog.current,
    names: farm.names,
    patterns: allowedModels(request.caller),
    created,
  });
}
