import type { IncomingMessage } from "node:http";
import {
  apiFamily,
  apiForm,
  FarmError,
  inferenceApi,
  isAllowedOrigin,
  pathOf,
  requestIdHeaders,
} from "@farmgate/shared";
import { answerError, type CallerSocket, type HttpHandler, onCallerLeft, onStalled } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import { Call, type CallStart } from "../proxy/call.ts";
import { forward } from "../proxy/forward.ts";
import { corsHeaders, preflightHeaders } from "./cors.ts";
import { stallError } from "./stall-error.ts";

/**
 * What the gateway's server does with a request. Inference goes straight to `forward`; every other path goes to
 * `control`. Each answer, whoever gives it, carries the request's id and the CORS headers once.
 */
export function createDoor(farm: Farm, control: HttpHandler): HttpHandler {
  return (request, response) => {
    const id = idFor(farm, request);
    const cors = corsHeaders(request.headers.origin, farm.config.cors.origins);
    const path = pathOf(request.url ?? "/");
    const ids = () => requestIdHeaders(apiFamily(path, request.headers), id);
    if (request.method === "OPTIONS") {
      const headers = [...ids(), ...cors, ...preflightHeaders(request.headers, farm.config.cors.origins)];
      response.writeHead(204, headers).end();
      return;
    }
    const api = inferenceApi(path);
    if (api === null) {
      // A cache on the way must not give one page what another one may read.
      const headers = [...ids(), ...(cors.length > 0 ? cors : ["vary", "Origin"])];
      for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i] ?? "", headers[i + 1] ?? "");
      control(request, response);
      return;
    }
    const { family, body } = apiForm(api);
    if (body === "none") {
      const error = new FarmError("upgrade_required", `${path} takes a WebSocket, not a plain request.`);
      answerError(response, error, { family, requestId: id, headers: ["upgrade", "websocket", ...cors] });
      return;
    }
    if (request.method !== "POST") {
      const error = new FarmError("method_not_allowed", `${path} takes POST.`);
      answerError(response, error, { family, requestId: id, headers: ["allow", "POST", ...cors] });
      return;
    }
    const call = new Call({ id, api, family, request, response, cors, ...startOf(farm) });
    onCallerLeft(request, response, () => call.leave());
    onStalled(response, (stall) => call.leave(stallError(stall, farm.config.timeouts.caller)));
    void forward(farm, call);
  };
}

/**
 * What it does with a connection that is to become a WebSocket: inference, on its paths. A browser lets every page open
 * one and read it, whoever the page is of, so that CORS's question is asked here.
 */
export function createSocketDoor(farm: Farm): (socket: CallerSocket) => void {
  return (socket) => {
    const { request, response } = socket;
    const id = idFor(farm, request);
    const path = pathOf(request.url ?? "/");
    const refuse = (error: FarmError) => answerError(response, error, { family: apiFamily(path), requestId: id });
    const api = inferenceApi(path);
    if (api === null || apiForm(api).body !== "none") {
      return refuse(new FarmError("not_found", `There is no WebSocket at ${path.slice(0, 200)}.`));
    }
    const { origin } = request.headers;
    if (origin !== undefined && !isAllowedOrigin(origin, farm.config.cors.origins)) {
      return refuse(new FarmError("forbidden", `Pages of ${origin.slice(0, 200)} may not open a WebSocket here.`));
    }
    const { family } = apiForm(api);
    const call = new Call({ id, api, family, request, response, socket, cors: [], ...startOf(farm) });
    socket.onLeft(() => call.leave());
    onStalled(response, (stall) => call.leave(stallError(stall, farm.config.timeouts.caller)));
    void forward(farm, call);
  };
}

function idFor(farm: Farm, { headers }: IncomingMessage): string {
  const candidate = farm.ids.idFor(headers);
  return farm.live.has(candidate) ? farm.ids.next() : candidate;
}

function startOf({ clock, bodies }: Farm): Pick<CallStart, "arrivedAt" | "since" | "share"> {
  return { arrivedAt: clock.now(), since: clock.wall(), share: bodies.share() };
}
