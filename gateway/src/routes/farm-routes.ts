import { API_NAMES, FarmError, isApi, MAX_MODEL_NAME } from "@farmgate/shared";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { z } from "zod";
import { allowedModels, isAdmin } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import { explainNow } from "../proxy/dry-run.ts";
import type { LiveRequest } from "../proxy/live-requests.ts";
import { keyAllows, resolveName } from "../routing/resolve-name.ts";
import { NONE_SPENT } from "../routing/ways.ts";
import { waysOf } from "../translate/ways.ts";
import { farmModel, farmRequest, farmWorker, queuePlaces } from "./farm-views.ts";

/** The live state of the farm, and what an operator may change of it. */
export function farmRoutes(app: FastifyInstance, farm: Farm): void {
  app.get("/farm/workers", () => ({
    workers: farm.catalog.current.workers.map((worker) => farmWorker(worker, farm.inflight, farm.clock.now())),
  }));
  app.get("/farm/models", () => ({
    models: [...new Set(farm.catalog.current.union.values())].map((model) =>
      farmModel(model, farm.catalog.current, farm.keeper.warmth(model.key)),
    ),
  }));
  app.get("/farm/requests", (request) => {
    const placeOf = queuePlaces(farm.catalog.current, farm.clock.now());
    const now = farm.clock.wall();
    const mine = farm.live.all().filter((live) => mayTouch(request, live));
    return { requests: mine.map((live) => farmRequest(live, placeOf(live), now)) };
  });
  app.delete<{ Params: { id: string } }>("/farm/requests/:id", (request, reply) => {
    const live = farm.live.get(request.params.id);
    if (live === undefined || !mayTouch(request, live)) {
      throw new FarmError("not_found", `No request "${request.params.id.slice(0, 200)}" is under way.`);
    }
    live.cancel(new FarmError("cancelled", "The request was cancelled by an operator."));
    return reply.code(200).send({ id: live.id, cancelled: true });
  });
  for (const type of ["drain", "resume"] as const) {
    app.post<{ Params: { name: string } }>(`/farm/workers/:name/${type}`, (request) => {
      const { name } = request.params;
      if (!isAdmin(request.caller)) throw new FarmError("forbidden", "Only an admin key may change the farm.");
      const find = () => farm.catalog.current.workers.find(({ config }) => config.name === name);
      if (find() === undefined) throw new FarmError("not_found", `No worker is named "${name.slice(0, 200)}".`);
      farm.catalog.apply({ type, worker: name });
      farm.log.info({ worker: name, by: request.caller.name }, type === "drain" ? "worker drained" : "worker resumed");
      const worker = find();
      return worker === undefined ? {} : farmWorker(worker, farm.inflight, farm.clock.now());
    });
  }
  app.post<{ Body: string | undefined }>("/farm/explain", async (request) => {
    if (!farm.isReady) await farm.ready;
    const { model, api } = readQuestion(request.body);
    const resolved = resolveName(model, farm.names, farm.catalog.current);
    const patterns = allowedModels(request.caller);
    if (!keyAllows(patterns, resolved, farm.catalog.current.union)) {
      throw new FarmError("model_not_allowed", `Your key may not use the model "${model}".`, { param: "model" });
    }
    const { key, name, worker: only } = resolved;
    const fresh = { spent: NONE_SPENT, held: null, patterns, prefixWorker: null };
    return explainNow(farm, { key, name, api, ways: waysOf(api), only, ...fresh });
  });
}

/** Own requests, and for an admin everybody's. */
function mayTouch(request: FastifyRequest, live: LiveRequest): boolean {
  return isAdmin(request.caller) || live.callerName === request.caller.name;
}

const question = z.object({
  model: z
    .string()
    .min(1, "must not be empty")
    .max(MAX_MODEL_NAME, `must not be longer than ${MAX_MODEL_NAME} characters`),
  api: z
    .string()
    .refine(isApi, `must be one of ${API_NAMES.join(", ")}`)
    .default("chat"),
});

function readQuestion(body: string | undefined): z.output<typeof question> {
  let value: unknown;
  try {
    value = JSON.parse(body ?? "");
  } catch {
    throw new FarmError("invalid_request", 'Expected a JSON object such as {"model":"qwen3-8b"}.');
  }
  const parsed = question.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const param = issue?.path.join(".") ?? "";
  const message = `${param === "" ? "The body" : param}: ${issue?.message ?? "is not valid"}.`;
  throw new FarmError("invalid_request", message, param === "" ? {} : { param });
}
