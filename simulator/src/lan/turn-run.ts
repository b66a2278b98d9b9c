import type { GatewayConfig } from "@farmgate/gateway";
import {
  canBeginNow,
  DeadlineQueue,
  deadlineAt,
  PairRates,
  pairsNow,
  type QueuedRequest,
  type RoutingContext,
  type RoutingRequest,
  tokensOf,
  type Waiting,
  type WaitingRoom,
} from "@farmgate/gateway/policies";
import { type Clock, nameKey } from "@farmgate/shared";
import type { CallRun } from "./call-run.ts";

export interface TurnRunDeps {
  config: GatewayConfig;
  clock: Clock;
  room: WaitingRoom;
  context(): RoutingContext;
  calls(): readonly CallRun[];
}

/** `scheduling: deadline` in virtual time: the gateway's own queue, by rates that it learns as the gateway does. */
export class TurnRun {
  readonly #deps: TurnRunDeps;
  readonly #rates = new PairRates();
  readonly #queue: DeadlineQueue;

  constructor(deps: TurnRunDeps) {
    const { clock, room } = deps;
    this.#deps = deps;
    this.#queue = new DeadlineQueue({
      clock,
      failed: (error) => {
        throw error;
      },
      isOn: () => this.isOn,
      pairs: (request) => pairsNow({ context: deps.context(), calls: deps.calls(), rates: this.#rates }, request),
      besides: () => room,
    });
  }

  get isOn(): boolean {
    return this.#deps.config.scheduling === "deadline";
  }

  wake(): void {
    this.#queue.wake();
  }

  inGroup(group: string): number {
    return this.#queue.inGroup(group);
  }

  /** How the queue sees it. */
  waitingOf(call: CallRun): Waiting {
    const { arrivedAt, deadlineAt: endsAt, bytes, tap } = call;
    const { config, clock } = this.#deps;
    const deadline =
      endsAt === null ? null : { arrivedAt, askedMs: endsAt - arrivedAt, mayRelax: config.deadlines.relax, relaxed: 0 };
    return { tokens: tokensOf(bytes), streamed: tap.streamed, deadline, enteredAt: clock.now() };
  }

  /** Whether that worker has a slot for it now, and makes it in time. */
  canBegin(waiting: Waiting, request: RoutingRequest, worker: string): boolean {
    const { instances, restMs } = this.#queue.slots({ ...request, only: worker });
    return canBeginNow(waiting, instances, restMs, this.#deps.clock.now());
  }

  /** Puts it into the queue; what comes back takes it out again. null: there is no room. */
  enter(
    call: CallRun,
    waiting: Waiting,
    { group, request }: { group: string; request: RoutingRequest },
    acts: { send: QueuedRequest["send"]; goOn: () => void; relaxed: (at: number) => void; refuse: () => void },
  ): (() => void) | null {
    const queued: QueuedRequest = {
      ...waiting,
      group,
      request,
      bytes: call.bytes,
      send: acts.send,
      goOn: acts.goOn,
      refuse: acts.refuse,
      relax(deadline) {
        queued.deadline = deadline;
        call.deadlineAt = deadlineAt(deadline);
        acts.relaxed(call.deadlineAt);
      },
    };
    return this.#queue.enter(queued, this.#deps.config.limits) ? () => this.#queue.leave(queued) : null;
  }

  /** A whole answer. */
  answered({ warmth, worker, upstreamModel, bytes, attempt, tap }: CallRun): void {
    if (!this.isOn || warmth !== "warm" || worker === null || attempt === null) return;
    const { firstByteFrom, firstDataAt, lastDataAt } = attempt;
    if (firstDataAt === null || lastDataAt === null) return;
    const times = { firstByteMs: firstDataAt - firstByteFrom, lastByteMs: lastDataAt - firstByteFrom };
    const now = this.#deps.clock.now();
    this.#rates.answered(worker, nameKey(upstreamModel), { bytes, streamed: tap.streamed, ...times }, now);
  }
}
