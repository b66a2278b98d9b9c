import type { ServerResponse } from "node:http";
import {
  answerHeadersForCaller,
  type ApiFamily,
  type Clock,
  type FarmError,
  HEADER,
  headerSafe,
  isEventStream,
  takesMoreEvents,
  streamErrorChunk,
} from "@farmgate/shared";
import {
  answerError,
  Exchange,
  type ExchangeFailure,
  type ExchangeOutcome,
  type ExchangeSink,
  onCallerLeft,
} from "@farmgate/wire";
import type { Pool } from "undici";
import type { Executor, Waiter } from "../executor.ts";
import type { Job } from "../queue/types.ts";
import type { ServedModel } from "../served-model.ts";
import type { EngineLinks } from "./engine-links.ts";
import { lostEngine, toFarmError } from "./engine-failure.ts";
import { readSpeed, UsageTail } from "./usage-tail.ts";

/** The caller's patience is the limit; these only free a slot that a dead engine would hold for ever. Milliseconds. */
const ENGINE_TIMEOUTS = { firstByteMs: 3_600_000, idleMs: 3_600_000 };

/** One caller's request, ready to be sent. */
export interface Order {
  requestId: string;
  family: ApiFamily;
  method: string;
  /** With query, below the engine's address. */
  path: string;
  /** For the engine, flat [name, value, ...]. */
  headers: string[];
  model: ServedModel;
  job: Job;
}

/** What became of a request, for the log and the metrics. Durations in milliseconds. */
export interface Served {
  /** What the caller was told, 499 when it left; a stream that broke off counts as 502 or 504. */
  status: number;
  waitedMs: number | null;
  firstByteMs: number | null;
  tokensPerSecond: number | null;
  error: string | null;
}

export interface RelayContext {
  executor: Executor;
  links: EngineLinks;
  clock: Clock;
}

/**
 * One request from the queue to the end of its answer. Bytes are passed on as they come, each side waits for the
 * other, and whoever leaves first ends the other side at once. `onEnd` is called exactly once.
 */
export class Relay implements Waiter, ExchangeSink {
  readonly #order: Order;
  readonly #response: ServerResponse;
  readonly #context: RelayContext;
  readonly #onEnd: (served: Served) => void;
  readonly #tail = new UsageTail();
  readonly #startedAt: number;
  /** Let go once the answer has begun: from then on it cannot be sent again. */
  #body: Buffer | null;
  #job: Job;
  #exchange: Exchange | null = null;
  #ended = false;
  #requeued = false;
  #retriedFresh = false;
  #isStream = false;
  #takesMoreEvents = false;
  #status = 0;
  #waitedMs: number | null = null;
  #headAt: number | null = null;
  #cutBy: FarmError | null = null;

  constructor(
    order: Order,
    body: Buffer,
    response: ServerResponse,
    context: RelayContext,
    onEnd: (served: Served) => void,
  ) {
    this.#order = order;
    this.#response = response;
    this.#context = context;
    this.#onEnd = onEnd;
    this.#job = order.job;
    this.#body = body;
    this.#startedAt = context.clock.now();
    response.on("drain", () => this.#exchange?.resume());
    onCallerLeft(response.req, response, () => this.#callerLeft());
    response.on("error", () => this.#callerLeft());
  }

  start(): void {
    this.#context.executor.submit(this.#job, this);
  }

  granted(waitedMs: number): void {
    this.#waitedMs = waitedMs;
    this.#send(this.#context.links.to(this.#order.model.origin));
  }

  rejected(error: FarmError): void {
    this.#breakOff(error);
  }

  cut(error: FarmError): void {
    this.#cutBy = error;
    this.#exchange?.cancel();
  }

  head(status: number, rawHeaders: string[]): void {
    const headers = answerHeadersForCaller(rawHeaders);
    this.#isStream = isEventStream(rawHeaders);
    this.#takesMoreEvents = takesMoreEvents(headers);
    headers.push(HEADER.requestId, this.#order.requestId, HEADER.model, headerSafe(this.#order.model.name));
    this.#response.writeHead(status, headers);
    this.#headAt = this.#context.clock.now();
    this.#status = status;
    this.#body = null;
    if (this.#isStream) this.#response.flushHeaders();
  }

  data(chunk: Buffer): boolean {
    this.#tail.add(chunk);
    return this.#response.write(chunk);
  }

  end(outcome: ExchangeOutcome): void {
    if (outcome.ok) {
      this.#response.end();
      this.#finish(this.#status, null);
    } else if (this.#cutBy !== null) {
      this.#breakOff(this.#cutBy);
    } else if (outcome.failure.kind === "cancelled") {
      this.#finish(499, "the caller left");
    } else if (this.#headAt === null) {
      this.#unanswered(outcome.failure);
    } else {
      this.#breakOff(toFarmError(outcome.failure, this.#order.model.name));
    }
  }

  #send(pool: Pool): void {
    const { model, method, path, headers } = this.#order;
    const request = { origin: model.origin, method, path: model.prefix + path, headers, body: this.#body };
    this.#exchange = new Exchange(pool, request, ENGINE_TIMEOUTS, this.#context.clock, this);
  }

  /**
   * No byte has come, so that nothing is lost by asking again:
   * 1. Nothing listens: the model is not loaded, whatever was thought. The job waits again, once.
   * 2. A connection that had been used before broke: its idle end met the request. Once more on a new one.
   * 3. Else the caller is told.
   */
  #unanswered(failure: ExchangeFailure): void {
    const { executor, links } = this.#context;
    if (lostEngine(failure) && !this.#requeued) {
      this.#requeued = true;
      const previous = this.#job.id;
      this.#job = { ...this.#job, id: `${previous}.again` };
      this.#exchange = null;
      executor.again(previous, this.#job, this);
    } else if (failure.kind === "reset" && failure.reused && !this.#retriedFresh) {
      this.#retriedFresh = true;
      const pool = links.fresh(this.#order.model.origin);
      this.#send(pool);
      void pool.close();
    } else {
      if (lostEngine(failure)) executor.tell({ type: "lost", model: this.#job.model });
      this.#breakOff(toFarmError(failure, this.#order.model.name));
    }
  }

  /** Tells an error as well as it still can be told: as an answer, inside the stream, or by a visible cut. */
  #breakOff(error: FarmError): void {
    const { family, requestId } = this.#order;
    if (this.#headAt === null) {
      answerError(this.#response, error, { family, requestId });
    } else if (this.#takesMoreEvents) {
      this.#response.end(streamErrorChunk(family, error, requestId, this.#tail.atEventBoundary()));
    } else {
      this.#response.destroy();
    }
    this.#finish(error.status, error.message);
  }

  #callerLeft(): void {
    if (this.#ended) return;
    if (this.#exchange !== null) {
      this.#exchange.cancel();
      return;
    }
    this.#context.executor.leave(this.#job.id);
    this.#finish(499, "the caller left");
  }

  #finish(status: number, error: string | null): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#context.executor.finished(this.#job.id);
    const { clock } = this.#context;
    const streamedMs = this.#isStream && this.#headAt !== null ? clock.now() - this.#headAt : 0;
    this.#onEnd({
      status,
      waitedMs: this.#waitedMs,
      firstByteMs: this.#headAt === null ? null : this.#headAt - this.#startedAt,
      tokensPerSecond: status === 200 ? readSpeed(this.#tail.text(), streamedMs) : null,
      error,
    });
  }
}
