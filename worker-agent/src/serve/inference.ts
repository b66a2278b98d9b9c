import type { IncomingMessage, ServerResponse } from "node:http";
import {
  type Api,
  apiFamily,
  apiForm,
  type BodyBytes,
  type BodyScanner,
  type ErrorCode,
  FarmError,
  formatDuration,
  foundIn,
  isAllowedOrigin,
  askedModel,
  onlyModel,
  pathOf,
  queryModel,
  replaceModel,
  replaceQueryModel,
  requestHeadersForWorker,
  scannerFor,
  socketHeadersForWorker,
  withoutKeys,
} from "@farmgate/shared";
import {
  type Access,
  answerError,
  BodyRoom,
  type BodyShare,
  type Caller,
  type CallerSocket,
  isBeyondLimit,
  type KeyRing,
  onStalled,
  readBody,
  type StopReading,
  type Upstreams,
  wishesOf,
  withTraceHeaders,
} from "@farmgate/wire";
import type { Executor } from "../executor.ts";
import type { ModelBook, ServedModel } from "../served-model.ts";
import { askedApi } from "./agent-paths.ts";
import { callerOf, requestIdOf } from "./asked.ts";
import { allowedModel, mayUse } from "./allowed-model.ts";
import type { AgentSpans, AskedSpan } from "../agent-spans.ts";
import { maySpeak, refuseUnspoken } from "./spoken.ts";
import { type RecordDeps, recordServed } from "./record-served.ts";
import type { Served } from "./request-times.ts";
import { type Order, ServedRequest } from "./served-request.ts";

/** Bytes. */
export const BODY_LIMIT = 100 * 1_024 ** 2;

/** Milliseconds for a caller who stands still. A gateway, which knows what to tell its own caller, gives up before. */
export const STALL_MS = 900_000;

/** A request before it is known what it asks for. */
interface Asked {
  requestId: string;
  known: Caller;
  /** Who shares a turn in the queue. */
  caller: string;
  startedAt: number;
  share: BodyShare;
  response: ServerResponse;
  /** null: traces are off. */
  span: AskedSpan | null;
}

/** A request whose body is still on its way; emptied when that is there, since a Set holds it for longer. */
interface Arriving {
  /** Ends the reading. */
  stop: StopReading | null;
}

const MORE_HEADERS: Readonly<Partial<Record<ErrorCode, readonly string[]>>> = {
  method_not_allowed: ["allow", "POST"],
  upgrade_required: ["upgrade", "websocket"],
};

export interface InferenceContext extends RecordDeps {
  models: ModelBook;
  keys: KeyRing;
  access: Access;
  executor: Executor;
  upstreams: Upstreams;
  /** null: traces are off. */
  spans: AgentSpans | null;
}

/** The door of the inference paths: from the bytes of a request to a job in the queue. */
export class Inference {
  readonly #context: InferenceContext;
  /** Ends the reading of each request that is still on its way. */
  readonly #arriving = new Set<Arriving>();
  readonly #bodies = new BodyRoom();
  #jobs = 0;

  constructor(context: InferenceContext) {
    this.#context = context;
  }

  /** Answers the request, whatever happens to it; never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse, socket: CallerSocket | null = null): Promise<void> {
    const startedAt = this.#context.clock.now();
    const requestId = requestIdOf(request.headers);
    const family = apiFamily(pathOf(request.url ?? ""));
    let caller = "";
    let model: ServedModel | null = null;
    const span = this.#context.spans?.asked(request, requestId, startedAt) ?? null;
    const record = (served: Served) =>
      recordServed({ requestId, caller, model, startedAt, path: request.url, span }, served, this.#context);
    try {
      const known = this.#context.access.identify(request);
      if (isBeyondLimit(request.socket)) throw tooManyConnections();
      response.once("close", this.#context.keys.enter(known, startedAt));
      caller = callerOf(known.name, request.headers);
      const share = this.#bodies.share();
      response.once("close", () => share.release());
      const asked = { requestId, known, caller, startedAt, share, response, span };
      const { order, body } =
        socket === null ? await this.#read(request, asked) : this.#readSocket(request, socket, asked);
      model = order.model;
      new ServedRequest({ ...order, family }, body, response, this.#context, record).start();
    } catch (thrown) {
      const error = this.#asFarmError(thrown, requestId);
      answerError(response, error, { family, requestId, headers: MORE_HEADERS[error.code] ?? [] });
      record({ status: error.status, waitedMs: null, firstByteMs: null, answer: null, error: error.message });
    }
  }

  /** Refuses the requests that are still on their way. */
  turnAway(why: FarmError): void {
    for (const { stop } of this.#arriving) stop?.(why);
  }

  async #read(request: IncomingMessage, asked: Asked): Promise<{ order: Omit<Order, "family">; body: BodyBytes }> {
    const url = request.url ?? "";
    const api = askedApi(pathOf(url)) ?? "chat";
    if (apiForm(api).body === "none") {
      throw new FarmError("upgrade_required", `${pathOf(url)} takes a WebSocket, not a plain request.`);
    }
    if (request.method !== "POST") {
      throw new FarmError("method_not_allowed", `${pathOf(url)} takes POST, not ${request.method}.`);
    }
    const scanner = scannerFor(api, request.rawHeaders);
    const body = await this.#receive(request, asked.response, asked.share, scanner);
    const scan = foundIn(scanner.finish(), request.headers["content-encoding"]);
    const { models } = this.#context;
    const name = askedModel(api, scan.model, url) ?? onlyModel(this.#namesFor(api, asked.known));
    const model = allowedModel(name, models, asked.known);
    refuseUnspoken(api, model, this.#context.learned.of(model.name).engine);
    const headers = headersFor(model, requestHeadersForWorker(request.rawHeaders), asked.span);
    const asksStream = scan.stream === true;
    const order = {
      socket: null,
      method: "POST",
      path: withoutKeys(url),
      asksStream,
      headers,
      ...this.#jobFor(request, model, asked),
    };
    return { order, body: replaceModel(body, scan, model.engineName) };
  }

  /** The models that this caller may ask so. */
  #namesFor(api: Api, caller: Caller): string[] {
    const { models, learned } = this.#context;
    const fit = models.models.filter((model) => {
      return mayUse(caller, model) && maySpeak(api, model, learned.of(model.name).engine);
    });
    return fit.map(({ name }) => name);
  }

  /** A WebSocket's request has no body; its query names the model. */
  #readSocket(
    request: IncomingMessage,
    socket: CallerSocket,
    asked: Asked,
  ): { order: Omit<Order, "family">; body: null } {
    const url = request.url ?? "";
    const api = askedApi(pathOf(url));
    if (api === null || apiForm(api).body !== "none") {
      throw new FarmError("not_found", `There is no WebSocket at ${pathOf(url).slice(0, 200)}.`);
    }
    // Whoever may open one may read it, and a browser lets every page try.
    if (request.headers.origin !== undefined && !isAllowedOrigin(request.headers.origin, [])) {
      throw new FarmError("forbidden", "Pages from elsewhere may not open a WebSocket here.");
    }
    const target = withoutKeys(url);
    const named = queryModel(target);
    const model = allowedModel(named.model, this.#context.models, asked.known);
    refuseUnspoken(api, model, this.#context.learned.of(model.name).engine);
    const path = replaceQueryModel(target, named, model.engineName);
    const headers = headersFor(model, socketHeadersForWorker(request.rawHeaders), asked.span);
    return {
      order: { socket, method: "GET", path, asksStream: true, headers, ...this.#jobFor(request, model, asked) },
      body: null,
    };
  }

  #jobFor(
    { headers }: IncomingMessage,
    model: ServedModel,
    { requestId, caller, startedAt }: Asked,
  ): Pick<Order, "requestId" | "model" | "job"> {
    const { priority, deadlineMs } = wishesOf(headers);
    this.#jobs += 1;
    const job = {
      id: String(this.#jobs),
      requestId,
      model: model.name,
      caller,
      priority: priority ?? "interactive",
      arrivedAt: startedAt,
      deadlineAt: deadlineMs === null ? null : startedAt + deadlineMs,
      kind: "request" as const,
    };
    return { requestId, model, job };
  }

  #receive(
    request: IncomingMessage,
    response: ServerResponse,
    share: BodyShare,
    scanner: BodyScanner,
  ): Promise<BodyBytes> {
    const arriving: Arriving = { stop: null };
    this.#arriving.add(arriving);
    onStalled(response, () => arriving.stop?.(stalledUpload()));
    const onStart = (stop: StopReading) => {
      arriving.stop = stop;
    };
    return readBody(request, BODY_LIMIT, { share, scanner, onStart }).finally(() => {
      this.#arriving.delete(arriving);
      arriving.stop = null;
    });
  }

  #asFarmError(thrown: unknown, requestId: string): FarmError {
    if (thrown instanceof FarmError) return thrown;
    this.#context.log.error({ err: thrown, request_id: requestId }, "a request failed by a fault of the agent");
    return new FarmError("internal", "The agent failed on this request; its log says why.", { cause: thrown });
  }
}

function stalledUpload(): FarmError {
  return new FarmError("timeout_request", `Nothing of the request came for ${formatDuration(STALL_MS)}.`);
}

function tooManyConnections(): FarmError {
  return new FarmError("queue_full", "Too many connections are open already.", { retryAfterS: 5 });
}

/** The engine's own key in the place of the caller's, and the agent's own span where there is one. */
function headersFor({ apiKey }: ServedModel, headers: string[], span: AskedSpan | null): string[] {
  if (apiKey !== null) headers.push("authorization", `Bearer ${apiKey}`);
  return span === null ? headers : withTraceHeaders(headers, span.headers);
}
