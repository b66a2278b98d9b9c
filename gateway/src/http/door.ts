import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { apiFamily, FarmError, HEADER, inferenceApi, originForm, pathOf } from "@farmgate/shared";
import { answerError } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import { Call } from "../proxy/call.ts";
import { forward } from "../proxy/forward.ts";
import { corsHeaders, preflightHeaders } from "./cors.ts";

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Idle connections of callers are kept longer than any usual proxy in front keeps its own to us. */
const KEEP_ALIVE_MS = 75_000;

/**
 * The gateway's HTTP server. Inference goes straight from the bare server to `forward`; every other path goes to
 * `control`. Each answer, whoever gives it, carries the request's id and the CORS headers once.
 */
export function createDoor(farm: Farm, control: Handler): Server {
  const handle: Handler = (request, response) => {
    request.url = originForm(request.url ?? "/");
    const asked = request.headers[HEADER.requestId];
    const candidate = farm.ids.idFor(asked);
    const id = farm.live.has(candidate) ? farm.ids.next() : candidate;
    const cors = corsHeaders(request.headers.origin, farm.config.cors.origins);
    if (request.method === "OPTIONS") {
      const headers = [HEADER.requestId, id, ...cors, ...preflightHeaders(request.headers, farm.config.cors.origins)];
      response.writeHead(204, headers).end();
      return;
    }
    const path = pathOf(request.url);
    const api = inferenceApi(path);
    if (api === null) {
      response.setHeader(HEADER.requestId, id);
      for (let i = 0; i < cors.length; i += 2) response.setHeader(cors[i] ?? "", cors[i + 1] ?? "");
      control(request, response);
      return;
    }
    const family = apiFamily(path);
    if (request.method !== "POST") {
      const error = new FarmError("method_not_allowed", `${path} takes POST.`);
      answerError(response, error, { family, requestId: id, headers: ["allow", "POST", ...cors] });
      return;
    }
    const arrivedAt = farm.clock.now();
    const call = new Call({ id, api, family, request, response, cors, arrivedAt, since: farm.clock.wall() });
    watchCaller(call);
    void forward(farm, call);
  };
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: KEEP_ALIVE_MS + 15_000,
      // An upload of a large prompt over a slow line may take its time.
      requestTimeout: 0,
      noDelay: true,
      maxHeaderSize: 32 * 1_024,
    },
    handle,
  );
  server.on("checkContinue", (request: IncomingMessage, response: ServerResponse) => {
    const announced = Number(request.headers["content-length"] ?? 0);
    if (announced <= farm.config.limits.body) response.writeContinue();
    handle(request, response);
  });
  // An expectation that means nothing here is no reason to refuse.
  server.on("checkExpectation", handle);
  // Each request of a pipeline listens to the connection until its answer has ended.
  server.on("connection", (socket) => socket.setMaxListeners(0));
  return server;
}

/** Ends the call when its caller closes the connection, or only its own half of it. */
function watchCaller(call: Call): void {
  const { request, response } = call;
  const { socket } = request;
  const left = () => {
    call.leave();
    // Else the connection would stay until a caller who has left has read what is under way to it.
    response.destroy();
  };
  socket.once("end", left);
  response.once("close", () => {
    socket.removeListener("end", left);
    if (!response.writableFinished) call.leave();
  });
}
