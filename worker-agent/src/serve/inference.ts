import type { IncomingMessage, ServerResponse } from "node:http";
import {
  apiFamily,
  type BodyBytes,
  type BodyScanner,
  type Clock,
  FarmError,
  foundIn,
  inferenceApi,
  namedModel,
  onlyModel,
  pathOf,
  replaceModel,
  requestHeadersForWorker,
  scannerFor,
} from "@farmgate/shared";
import {
  answerError,
  BodyRoom,
  type BodyShare,
  type Caller,
  type KeyRing,
  type Log,
  readBody,
  type StopReading,
  type Upstreams,
  wishesOf,
} from "@farmgate/wire";
import type { Executor } from "../executor.ts";
import type { Learned } from "../figures/learned.ts";
import type { AgentMetrics } from "../metrics.ts";
import type { ModelBook, ServedModel } from "../served-model.ts";
import { callerOf, requestIdOf } from "./asked.ts";
import { allowedModel, usableModels } from "./allowed-model.ts";
import { type Order, type Served, ServedRequest } from "./served-request.ts";

/** Bytes. */
export const BODY_LIMIT = 100 * 1_024 ** 2;

export interface InferenceContext {
  models: ModelBook;
  keys: KeyRing;
  executor: Executor;
  upstreams: Upstreams;
  learned: Learned;
  metrics: AgentMetrics;
  clock: Clock;
  log: Log;
}

/** The door of the inference paths: from the bytes of a request to a job in the queue. */
export class Inference {
  readonly #context: InferenceContext;
  /** Ends the reading of each request that is still on its way. */
  readonly #arriving = new Set<StopReading>();
  readonly #bodies = new BodyRoom();
  #jobs = 0;

  constructor(context: InferenceContext) {
    this.#context = context;
  }

  /** Answers the request, whatever happens to it; never rejects. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const startedAt = this.#context.clock.now();
    const requestId = requestIdOf(request.headers);
    const family = apiFamily(pathOf(request.url ?? ""));
    let caller = "";
    let model: ServedModel | null = null;
    const record = (served: Served) => this.#record({ requestId, caller, model, startedAt, path: request.url }, served);
    try {
      const known = this.#context.keys.identify(request.headers);
      response.once("close", this.#context.keys.enter(known));
      caller = callerOf(known.name, request.headers);
      const share = this.#bodies.share();
      response.once("close", () => share.release());
      const { order, body } = await this.#read(request, { requestId, known, caller, startedAt, share });
      model = order.model;
      new ServedRequest({ ...order, family }, body, response, this.#context, record).start();
    } catch (thrown) {
      const error = this.#asFarmError(thrown, requestId);
      const headers = error.code === "method_not_allowed" ? ["allow", "POST"] : [];
      answerError(response, error, { family, requestId, headers });
      record({ status: error.status, waitedMs: null, firstByteMs: null, answer: null, error: error.message });
    }
  }

  /** Refuses the requests that are still on their way. */
  turnAway(why: FarmError): void {
    for (const stop of this.#arriving) stop(why);
  }

  async #read(
    request: IncomingMessage,
    asked: { requestId: string; known: Caller; caller: string; startedAt: number; share: BodyShare },
  ): Promise<{ order: Omit<Order, "family">; body: BodyBytes }> {
    const url = request.url ?? "";
    if (request.method !== "POST") {
      throw new FarmError("method_not_allowed", `${pathOf(url)} takes POST, not ${request.method}.`);
    }
    const api = inferenceApi(pathOf(url)) ?? "chat";
    const { priority, deadlineMs } = wishesOf(request.headers);
    const scanner = scannerFor(api, request.rawHeaders);
    const body = await this.#receive(request, asked.share, scanner);
    const scan = foundIn(scanner.finish(), request.headers["content-encoding"]);
    const { models } = this.#context;
    const name = namedModel(api, scan.model, url) ?? onlyModel(usableModels(models, asked.known));
    const model = allowedModel(name, models, asked.known);
    this.#jobs += 1;
    const order = {
      requestId: asked.requestId,
      method: "POST",
      path: url,
      headers: headersForEngine(request.rawHeaders, model),
      model,
      job: {
        id: String(this.#jobs),
        requestId: asked.requestId,
        model: model.name,
        caller: asked.caller,
        priority: priority ?? "interactive",
        arrivedAt: asked.startedAt,
        deadlineAt: deadlineMs === null ? null : asked.startedAt + deadlineMs,
        kind: "request" as const,
      },
    };
    return { order, body: replaceModel(body, scan, model.engineName) };
  }

  #receive(request: IncomingMessage, share: BodyShare, scanner: BodyScanner): Promise<BodyBytes> {
    let stop: StopReading | null = null;
    const onStart = (stopReading: StopReading) => {
      stop = stopReading;
      this.#arriving.add(stopReading);
    };
    const body = readBody(request, BODY_LIMIT, { share, scanner, onStart });
    return body.finally(() => stop !== null && this.#arriving.delete(stop));
  }

  #asFarmError(thrown: unknown, requestId: string): FarmError {
    if (thrown instanceof FarmError) return thrown;
    this.#context.log.error({ err: thrown, request_id: requestId }, "a request failed by a fault of the agent");
    return new FarmError("internal", "The agent failed on this request; its log says why.", { cause: thrown });
  }

  #record(
    asked: {
      requestId: string;
      caller: string;
      model: ServedModel | null;
      startedAt: number;
      path: string | undefined;
    },
    served: Served,
  ): void {
    const { clock, learned, metrics, log } = this.#context;
    const model = asked.model?.name ?? null;
    metrics.served(model, served.status);
    const { answer } = served;
    if (model !== null && answer !== null) learned.answered(model, { ...answer, ok: served.status === 200 });
    const line = {
      request_id: asked.requestId,
      path: pathOf(asked.path ?? ""),
      model,
      caller: asked.caller,
      status: served.status,
      waited_ms: rounded(served.waitedMs),
      first_byte_ms: rounded(served.firstByteMs),
      ms: rounded(clock.now() - asked.startedAt),
      ...(served.error === null ? {} : { error: served.error }),
    };
    log.info(line, served.error === null ? "answered" : "not answered");
  }
}

function rounded(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}

/** The caller's headers without its credentials, and the engine's own key in their place. */
function headersForEngine(raw: readonly string[], { apiKey }: ServedModel): string[] {
  const headers = requestHeadersForWorker(raw);
  if (apiKey !== null) headers.push("authorization", `Bearer ${apiKey}`);
  return headers;
}
