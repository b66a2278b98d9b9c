import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  answerHeadersForCaller,
  type ApiFamily,
  type BodyBytes,
  type Clock,
  type FarmError,
  HEADER,
  headerSafe,
  isEventStream,
} from "@farmgate/shared";
import {
  answerError,
  AnswerRelay,
  AnswerTail,
  type CallerSocket,
  Exchange,
  type ExchangeFailure,
  type ExchangeOutcome,
  type ExchangeRequest,
  type ExchangeSink,
  failureOf,
  HeldAnswer,
  onCallerLeft,
  onStalled,
  Tunnel,
  type Upstream,
  type Upstreams,
} from "@farmgate/wire";
import type { Executor, Waiter } from "../executor.ts";
import type { Job } from "../queue/types.ts";
import type { ServedModel } from "../served-model.ts";
import { afterFailure, deadlineError, lostEngine, toFarmError } from "./engine-failure.ts";
import { LoadingAnswer } from "./loading-answer.ts";
import { RequestTimes, type Served } from "./request-times.ts";
import { SignsOfLife } from "./signs-of-life.ts";

/** The caller's patience is the limit; these only free a slot that a dead engine would hold for ever. Milliseconds. */
const ENGINE_TIMEOUTS = { firstByteMs: 3_600_000, idleMs: 3_600_000 };

/** Until an engine that says that it is loading is asked again, in milliseconds. */
const LOADING_PAUSE_MS = 500;

const LEFT = "the caller left";

/** One caller's request, ready to be sent. */
export interface Order {
  requestId: string;
  /** The caller's connection, where it is to become a WebSocket; null: a plain request. */
  socket: CallerSocket | null;
  family: ApiFamily;
  method: string;
  /** With query, below the engine's address. */
  path: string;
  /** It asks for a stream: an answer of unknown length may be one. */
  asksStream: boolean;
  /** For the engine, flat [name, value, ...]. */
  headers: string[];
  model: ServedModel;
  job: Job;
}

export interface RequestContext {
  executor: Executor;
  upstreams: Upstreams;
  clock: Clock;
}

/**
 * One request from the queue to the end of its answer. Bytes are passed on as they come, each side waits for the
 * other, and whoever leaves first ends the other side at once. `onEnd` is called exactly once.
 */
export class ServedRequest implements Waiter, ExchangeSink {
  readonly #order: Order;
  readonly #response: ServerResponse;
  readonly #context: RequestContext;
  readonly #onEnd: (served: Served) => void;
  readonly #tail = new AnswerTail();
  readonly #answer: AnswerRelay;
  readonly #signs: SignsOfLife;
  readonly #times: RequestTimes;
  /** Let go once the answer has begun, or its caller has left: from then on it is not sent again. */
  #body: BodyBytes | null;
  #job: Job;
  #exchange: Exchange | null = null;
  #tunnel: Tunnel | null = null;
  /** Calls off the next try at an engine that is loading; null: no such pause. */
  #endPause: (() => void) | null = null;
  #ended = false;
  /** Why the caller counts as gone, in words; its answer may still be read on. */
  #left: string | null = null;
  #requeued = false;
  #retriedFresh = false;
  #status = 0;
  #cutBy: FarmError | null = null;

  constructor(
    order: Order,
    body: BodyBytes | null,
    response: ServerResponse,
    context: RequestContext,
    onEnd: (served: Served) => void,
  ) {
    this.#order = order;
    this.#response = response;
    this.#context = context;
    this.#onEnd = onEnd;
    this.#job = order.job;
    this.#body = body;
    this.#times = new RequestTimes(context.clock);
    this.#answer = new AnswerRelay(response, this.#tail, () => this.#exchange?.resume());
    this.#signs = new SignsOfLife(response, context.clock);
    if (order.socket === null) onCallerLeft(response.req, response, () => this.#callerLeft());
    else order.socket.onLeft(() => this.#callerLeft());
    response.on("error", () => this.#callerLeft());
    onStalled(response, () => this.#callerLeft("the caller took nothing of its answer"));
  }

  start(): void {
    this.#context.executor.submit(this.#job, this);
    this.#waitVisibly();
  }

  granted(waitedMs: number): void {
    this.#times.granted(waitedMs);
    this.#signs.granted(waitedMs);
    this.#send(this.#context.upstreams.to(this.#order.model));
  }

  rejected(error: FarmError): void {
    this.#breakOff(error);
  }

  cut(error: FarmError): void {
    if (this.#endPause !== null) return this.#breakOff(error);
    if (this.#left === null) this.#cutBy = error;
    this.#tunnel?.destroy();
    this.#exchange?.cancel();
  }

  head(status: number, rawHeaders: string[]): void {
    const headers = answerHeadersForCaller(rawHeaders);
    headers.push(HEADER.requestId, this.#order.requestId, HEADER.model, headerSafe(this.#order.model.name));
    this.#answer.start(status, headers);
    this.#times.head(isEventStream(rawHeaders));
    this.#status = status;
    this.#body = null;
  }

  /** The engine has its WebSocket, and holds the slot until that ends. */
  upgraded(rawHeaders: string[], engine: Socket): void {
    const { socket, requestId, model } = this.#order;
    if (socket === null) throw new Error("no WebSocket was asked for");
    this.#times.head(false);
    const own = [HEADER.requestId, requestId, HEADER.model, headerSafe(model.name)];
    const headers = ["connection", "Upgrade", "upgrade", "websocket", ...answerHeadersForCaller(rawHeaders), ...own];
    this.#tunnel = new Tunnel(socket.switch(headers), engine, this.#context.clock, (broke) => {
      if (this.#left !== null) return this.#finish(499, this.#left);
      const why = this.#cutBy ?? (broke && toFarmError(failureOf(broke, "body"), model.name));
      this.#finish(why?.status ?? 101, why?.message ?? null);
    });
  }

  data(chunk: Buffer): boolean {
    this.#times.data(chunk);
    return this.#answer.write(chunk);
  }

  end(outcome: ExchangeOutcome): void {
    if (outcome.ok) {
      this.#answer.finish();
      this.#finish(this.#status, null);
    } else if (this.#cutBy !== null) {
      this.#breakOff(this.#cutBy);
    } else if (outcome.failure.kind === "cancelled") {
      this.#finish(499, this.#left ?? LEFT);
    } else if (!this.#times.hasHead) {
      this.#unanswered(outcome.failure);
    } else {
      this.#breakOff(toFarmError(outcome.failure, this.#order.model.name));
    }
  }

  /** A request that was granted or refused at once costs no timer. */
  #waitVisibly(): void {
    if (this.#exchange === null && !this.#ended) this.#signs.waits();
  }

  #send({ pool, origin, prefix }: Upstream): void {
    const { method, path, headers, socket } = this.#order;
    const plain = { origin, method, path: prefix + path, headers, body: this.#body };
    const request: ExchangeRequest = socket === null ? plain : { ...plain, upgrade: "websocket" };
    const firstByteMs = Math.min(ENGINE_TIMEOUTS.firstByteMs, this.#deadlineLeft());
    const timeouts = { ...ENGINE_TIMEOUTS, firstByteMs };
    const { clock } = this.#context;
    const loads = this.#times.sinceGrantMs < this.#order.model.timeoutMs;
    const sink = loads ? new LoadingAnswer(this, clock, () => this.#askLater()) : this;
    const held = new HeldAnswer(sink, clock, this.#order.asksStream);
    this.#exchange = new Exchange(pool, request, timeouts, clock, held);
  }

  /** The model is not ready after all: as long as its load may still take, the request is held and sent again. */
  #askLater(): void {
    if (this.#left !== null) return this.#finish(499, this.#left);
    if (this.#cutBy !== null) return this.#breakOff(this.#cutBy);
    this.#exchange = null;
    const left = this.#deadlineLeft();
    this.#endPause = this.#context.clock.after(Math.min(LOADING_PAUSE_MS, left), () => {
      this.#endPause = null;
      // Not by what is left now: a timer may come a fraction of a millisecond early.
      if (left <= LOADING_PAUSE_MS) this.#breakOff(deadlineError());
      else this.#send(this.#context.upstreams.to(this.#order.model));
    });
  }

  #deadlineLeft(): number {
    const { deadlineAt } = this.#job;
    return deadlineAt === null ? Number.POSITIVE_INFINITY : Math.max(0, deadlineAt - this.#context.clock.now());
  }

  #unanswered(failure: ExchangeFailure): void {
    const { executor, upstreams } = this.#context;
    switch (afterFailure(failure, { requeued: this.#requeued, retriedFresh: this.#retriedFresh })) {
      case "wait_again": {
        this.#requeued = true;
        this.#times.waitsAgain();
        const previous = this.#job.id;
        this.#job = { ...this.#job, id: `${previous}.again` };
        this.#exchange = null;
        executor.again(previous, this.#job, this);
        this.#waitVisibly();
        return;
      }
      case "fresh": {
        this.#retriedFresh = true;
        const fresh = upstreams.fresh(this.#order.model);
        this.#send(fresh);
        void fresh.pool.close();
        return;
      }
      case "tell":
        if (lostEngine(failure)) executor.tell({ type: "lost", model: this.#job.model });
        this.#breakOff(this.#deadlineLeft() === 0 ? deadlineError() : toFarmError(failure, this.#order.model.name));
    }
  }

  /** Tells an error as well as it still can be told: as an answer, inside the stream, or by a visible cut. */
  #breakOff(error: FarmError): void {
    const { family, requestId } = this.#order;
    if (!this.#times.hasHead) answerError(this.#response, error, { family, requestId });
    else this.#answer.break(family, error, requestId);
    this.#finish(error.status, error.message);
  }

  #callerLeft(why = LEFT): void {
    if (this.#ended) return;
    this.#left ??= why;
    if (this.#exchange !== null) {
      this.#body = null;
      this.#exchange.abandon(this.#order.model.drainOnAbort);
      return;
    }
    this.#context.executor.leave(this.#job.id);
    this.#finish(499, this.#left ?? LEFT);
  }

  #finish(status: number, error: string | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#endPause?.();
    this.#signs.stop();
    this.#context.executor.finished(this.#job.id);
    this.#onEnd({ status, error, ...this.#times.told(this.#tail) });
  }
}
