import { API_NAMES, FarmError, isApi, MAX_MODEL_NAME } from "@farmgate/shared";
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { allowedModels, type Visitor } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import { explainNow } from "../proxy/dry-run.ts";
import { keyAllows, resolveName } from "../routing/resolve-name.ts";
import { cancelElsewhere, cancelHere, requestsElsewhere } from "../together/requests.ts";
import { NONE_SPENT } from "../routing/ways.ts";
import { waysOf } from "../translate/ways.ts";
import { placementView } from "./placement-view.ts";
import { farmModel, farmRequest, farmWorker, isShown, queuePlaces, type ShowsModel } from "./farm-views.ts";
import { togetherView } from "./together-view.ts";

/** The live state of the farm, and what an operator may change of it. */
export function farmRoutes(app: FastifyInstance, farm: Farm): void {
  app.get("/farm/workers", ({ caller }) => {
    const shows = shownTo(farm, caller);
    const workers = farm.catalog.current.workers.filter((worker) => isShown(worker, shows));
    return {
      workers: workers.map((worker) => farmWorker(worker, farm.inflight, shows, farm.clock.now())),
      ...togetherView(farm.hub),
    };
  });
  app.get("/farm/models", ({ caller }) => {
    const shows = shownTo(farm, caller);
    const models = [...new Set(farm.catalog.current.union.values())].filter(({ id }) => shows(id));
    return { models: models.map((model) => farmModel(model, farm.catalog.current, farm.keeper.warmth(model.key))) };
  });
  app.get("/farm/placement", ({ caller }) => {
    const { session } = farm.placement;
    const { book: orders, failedUnloads: unloads } = farm.desk;
    const ordersHere = farm.hub.isShared ? farm.placingLease.isHeld : null;
    const scene = { session, catalog: farm.catalog.current, orders, unloads, now: farm.clock.now(), ordersHere };
    return { placement: placementView(scene, shownTo(farm, caller), shownPatterns(caller).includes("*")) };
  });
  app.get("/farm/requests", async ({ caller }) => {
    const placeOf = queuePlaces(farm.catalog.current, farm.clock.now());
    const now = farm.clock.wall();
    const shown = farm.live.all().filter((live) => caller.key === null || isOwn(caller, live.callerName));
    const here = shown.map((live) => farmRequest(live, placeOf(live), now));
    if (!farm.hub.isShared) return { requests: here };
    const elsewhere = await requestsElsewhere(farm.hub);
    return {
      requests: [
        ...here.map((request) => ({ ...request, gateway: farm.hub.id })),
        ...elsewhere.filter((request) => caller.key === null || isOwn(caller, request.caller)),
      ],
    };
  });
  app.delete<{ Params: { id: string } }>("/farm/requests/:id", async (request, reply) => {
    const { id } = request.params;
    const { caller } = request;
    if (caller.key === null) onlyAdmins(caller);
    // An operator may end anybody's, a key its own.
    const by = caller.changes ? null : (caller.key?.name ?? "");
    if (!cancelHere(farm.live, id, by) && !(farm.hub.isShared && (await cancelElsewhere(farm.hub, id, by)))) {
      throw new FarmError("not_found", `No request "${id.slice(0, 200)}" is under way.`);
    }
    return reply.code(200).send({ id, cancelled: true });
  });
  for (const type of ["drain", "resume"] as const) {
    app.post<{ Params: { name: string } }>(`/farm/workers/:name/${type}`, (request) => {
      const { name } = request.params;
      onlyAdmins(request.caller);
      const find = () => farm.catalog.current.workers.find(({ config }) => config.name === name);
      if (find() === undefined) throw new FarmError("not_found", `No worker is named "${name.slice(0, 200)}".`);
      farm.drains.order(name, type === "drain");
      farm.log.info({ worker: name, by: request.caller.name }, type === "drain" ? "worker drained" : "worker resumed");
      const worker = find();
      if (worker === undefined) return {};
      return farmWorker(worker, farm.inflight, shownTo(farm, request.caller), farm.clock.now());
    });
  }
  app.post<{ Body: string | undefined }>("/farm/explain", async (request) => {
    if (!farm.isReady) await farm.ready;
    const { model, api } = readQuestion(request.body);
    const resolved = resolveName(model, farm.names, farm.catalog.current);
    const patterns = shownPatterns(request.caller);
    if (!keyAllows(patterns, resolved, farm.catalog.current.union)) {
      throw new FarmError("model_not_allowed", `Your key may not use the model "${model}".`, { param: "model" });
    }
    const { key, name, worker: only } = resolved;
    const fresh = { spent: NONE_SPENT, held: null, patterns, prefixWorker: null };
    return explainNow(farm, { key, name, api, ways: waysOf(api), only, ...fresh });
  });
}

/** Own requests, and for who may change the farm everybody's. */
function isOwn({ changes, key }: Visitor, callerName: string): boolean {
  return changes || (key !== null && callerName === key.name);
}

function onlyAdmins({ changes }: Visitor): void {
  if (!changes) throw new FarmError("forbidden", "Only an admin key may change the farm.");
}

/** The models that a key may see: what it may use; an admin's sees all. */
function shownPatterns(caller: Visitor): readonly string[] {
  return caller.changes ? EVERY_MODEL : allowedModels(caller);
}

const EVERY_MODEL = ["*"];

function shownTo(farm: Farm, caller: Visitor): ShowsModel {
  const patterns = shownPatterns(caller);
  if (patterns.includes("*")) return () => true;
  const { current } = farm.catalog;
  return (id) => keyAllows(patterns, resolveName(id, farm.names, current), current.union);
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
