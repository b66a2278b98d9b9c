import { apiFamily, apiForm, FarmError, inferenceApi, pathOf, requestIdHeaders } from "@farmgate/shared";
import { answerError, type HttpHandler, onCallerLeft } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import { Call } from "../proxy/call.ts";
import { forward } from "../proxy/forward.ts";
import { corsHeaders, preflightHeaders } from "./cors.ts";

/**
 * What the gateway's server does with a request. Inference goes straight to `forward`; every other path goes to
 * `control`. Each answer, whoever gives it, carries the request's id and the CORS headers once.
 */
export function createDoor(farm: Farm, control: HttpHandler): HttpHandler {
  return (request, response) => {
    const candidate = farm.ids.idFor(request.headers);
    const id = farm.live.has(candidate) ? farm.ids.next() : candidate;
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
      const headers = [...ids(), ...cors];
      for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i] ?? "", headers[i + 1] ?? "");
      control(request, response);
      return;
    }
    const { family } = apiForm(api);
    if (request.method !== "POST") {
      const error = new FarmError("method_not_allowed", `${path} takes POST.`);
      answerError(response, error, { family, requestId: id, headers: ["allow", "POST", ...cors] });
      return;
    }
    const arrivedAt = farm.clock.now();
    const since = farm.clock.wall();
    const share = farm.bodies.share();
    const call = new Call({ id, api, family, request, response, cors, share, arrivedAt, since });
    onCallerLeft(request, response, () => call.leave());
    void forward(farm, call);
  };
}
