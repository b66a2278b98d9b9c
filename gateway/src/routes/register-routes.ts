import { FarmError, registrationSchema } from "@farmgate/shared";
import { isPassedOn, type Visitor } from "@farmgate/wire";
import type { FastifyInstance } from "fastify";
import { drainingError } from "../admission/draining-error.ts";
import type { Farm } from "../farm.ts";
import { readJson } from "./read-json.ts";

const EXAMPLE = '{"name":"gpu-box","port":8401,"engine":"agent","version":"0.1.0","instance":"..."}';

const PATH = "/farm/register";

/** Where agents announce themselves and take their leave. */
export function registerRoutes(app: FastifyInstance, farm: Farm): void {
  app.addHook("onRequest", async ({ caller, routeOptions }) => {
    const { url = "" } = routeOptions;
    if (url.startsWith(PATH) || caller === null || !isForAgentsAlone(farm, caller)) return;
    throw new FarmError("forbidden", `The key "${caller.name}" registers workers, and may do nothing else.`);
  });
  app.post<{ Body: string | undefined }>(PATH, async ({ caller, body, raw }) => {
    onlyAgents(farm, caller);
    if (farm.draining) throw drainingError();
    const origin = { address: raw.socket.remoteAddress ?? "", passedOn: isPassedOn(raw) };
    return farm.registrar.register(readJson(registrationSchema, body, EXAMPLE), origin, caller.name);
  });
  app.delete<{ Params: { name: string }; Querystring: { instance?: unknown } }>(`${PATH}/:name`, (request) => {
    onlyAgents(farm, request.caller);
    const { name } = request.params;
    const { instance } = request.query;
    farm.registrar.leave(name, typeof instance === "string" ? instance : "");
    return { name, registered: false };
  });
}

/** A key that may register, and which no model and no admin's right is given. */
function isForAgentsAlone(farm: Farm, caller: Visitor): boolean {
  return isAgentsKey(farm, caller) && !caller.changes && caller.key?.models.length === 0;
}

function isAgentsKey({ config }: Farm, { key }: Visitor): boolean {
  return key !== null && config.keys.some(({ name, agents }) => agents && name === key.name);
}

function onlyAgents(farm: Farm, caller: Visitor): void {
  if (caller.changes || isAgentsKey(farm, caller)) return;
  const key = caller.key === null ? "This needs" : `The key "${caller.name}" may not register workers: it takes`;
  throw new FarmError("forbidden", `${key} an admin key, or one with \`agents: true\`.`);
}
