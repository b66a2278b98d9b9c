import type { Clock } from "@farmgate/shared";
import type { WaitingRoomLimits } from "../admission/waiting-room.ts";
import type { RoutingRequest } from "../routing/types.ts";
import { type Instance, instancesOf, meanRestMs, type PairNow } from "./instances.ts";
import { decideRound, type Round, type Waiting } from "./queue-round.ts";
import type { Deadline, MissFigures } from "./relaxed-deadline.ts";

/** The queue is looked at this often at least, in milliseconds: time alone makes a deadline hopeless. */
const LOOK_MS = 100;
/** From so many on a look takes a millisecond or more: who wakes a queue that long within this time wakes it once. */
const MANY = 64;
const GATHER_MS = 20;

/** One request in the queue of its model, with what is done for it. */
export interface QueuedRequest extends Waiting {
  /** Requests of one group can be served by the same workers. */
  group: string;
  /** What it holds in memory. */
  bytes: number;
  request: RoutingRequest;
  /** Takes a place at that worker; false: there is none after all. */
  send(worker: string): boolean;
  /** Goes the way that it would go without this queue. */
  goOn(): void;
  relax(deadline: Deadline): void;
  refuse(figures: MissFigures): void;
}

export interface DeadlineQueueDeps {
  clock: Clock;
  /** Whether requests are to wait here at all, by the configuration of this moment. */
  isOn(): boolean;
  /** The workers that have the model of the request loaded, or are loading it. */
  pairs(request: RoutingRequest): PairNow[];
  /** Requests that wait elsewhere, and their bytes: the limits are for all together. */
  besides(): { size: number; bytes: number };
  /** Is told what went wrong when nothing could be decided: those that waited go as if there were no queue. */
  failed(error: unknown): void;
}

/**
 * What waits for a slot, a queue for each group of requests, sent in the order in which most are on time. What is decided
 * is decided in `decideRound`.
 */
export class DeadlineQueue {
  readonly #deps: DeadlineQueueDeps;
  readonly #groups = new Map<string, Set<QueuedRequest>>();
  #size = 0;
  #bytes = 0;
  #stopTimer: (() => void) | null = null;
  #stopGathering: (() => void) | null = null;
  #isWaking = false;
  #isWokenAgain = false;

  constructor(deps: DeadlineQueueDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** How many of one group wait. */
  inGroup(group: string): number {
    return this.#groups.get(group)?.size ?? 0;
  }

  /** False when there is no room. Who enters may be sent, or refused, before this returns. */
  enter(queued: QueuedRequest, limits: WaitingRoomLimits): boolean {
    const { size, bytes } = this.#deps.besides();
    if (this.#size + size >= limits.queue || this.#bytes + bytes + queued.bytes > limits.queueBytes) return false;
    const group = this.#groups.get(queued.group) ?? new Set();
    this.#groups.set(queued.group, group.add(queued));
    this.#size += 1;
    this.#bytes += queued.bytes;
    this.wake();
    return true;
  }

  /** Harmless for one that is not there any more. */
  leave(queued: QueuedRequest): void {
    const group = this.#groups.get(queued.group);
    if (group?.delete(queued) !== true) return;
    if (group.size === 0) this.#groups.delete(queued.group);
    this.#size -= 1;
    this.#bytes -= queued.bytes;
    if (this.#size > 0) return;
    this.#stopTimer?.();
    this.#stopTimer = null;
    this.#stopGathering?.();
    this.#stopGathering = null;
  }

  /** Something may have changed: a worker, the time, the configuration. */
  wake(): void {
    if (this.#size < MANY) this.#wakeNow();
    else {
      this.#stopGathering ??= this.#deps.clock.after(GATHER_MS, () => {
        this.#stopGathering = null;
        this.#wakeNow();
      });
    }
  }

  #wakeNow(): void {
    this.#isWokenAgain = this.#isWaking;
    if (this.#isWaking || this.#size === 0) return;
    this.#isWaking = true;
    try {
      do {
        this.#isWokenAgain = false;
        for (const group of this.#byUrgency()) this.#lookOrGoOn(group);
      } while (this.#isWokenAgain);
    } finally {
      this.#isWaking = false;
    }
    if (this.#size > 0) this.#stopTimer ??= this.#deps.clock.after(LOOK_MS, () => this.#lookAgain());
  }

  /** The slots for a request that came now, and what answers take after their first byte. */
  slots(request: RoutingRequest): { instances: Instance[]; restMs: number } {
    const pairs = this.#deps.pairs(request);
    const restMs = meanRestMs(pairs);
    return { instances: instancesOf(pairs, restMs, this.#deps.clock.now()), restMs };
  }

  #lookAgain(): void {
    this.#stopTimer = null;
    this.#wakeNow();
  }

  /** Groups share workers: the one that has waited longest is looked at first. */
  #byUrgency(): Set<QueuedRequest>[] {
    const oldest = (group: Set<QueuedRequest>) => group.values().next().value?.enteredAt ?? 0;
    return [...this.#groups.values()].sort((a, b) => oldest(a) - oldest(b));
  }

  /** Whoever wakes the queue has nothing to do with what goes wrong in it. */
  #lookOrGoOn(group: Set<QueuedRequest>): void {
    try {
      this.#look(group);
    } catch (error) {
      this.#deps.failed(error);
      this.#letGo(group);
    }
  }

  #letGo(group: Set<QueuedRequest>): void {
    for (const queued of group) this.#take(queued, () => queued.goOn());
  }

  /** Sends until nobody can go any more: a worker whose slots nobody knows takes one after the other. */
  #look(group: Set<QueuedRequest>): void {
    for (;;) {
      const [first] = group;
      if (first === undefined) return;
      const { instances, restMs } = this.slots(first.request);
      // Nobody has the model, or is about to: whom routing picks then is made to load it.
      if (!this.#deps.isOn() || instances.length === 0) {
        this.#letGo(group);
        return;
      }
      if (!this.#act(decideRound(group, instances, restMs, this.#deps.clock.now()))) return;
    }
  }

  /** Whether somebody was sent. */
  #act({ sends, relaxed, refused, overdue }: Round<QueuedRequest>): boolean {
    for (const queued of overdue) this.#take(queued, () => queued.goOn());
    for (const { waiting, figures } of refused) this.#take(waiting, () => waiting.refuse(figures));
    for (const { waiting, deadline } of relaxed) waiting.relax(deadline);
    let sent = false;
    for (const { waiting, worker } of sends) {
      if (!waiting.send(worker)) continue;
      this.leave(waiting);
      sent = true;
    }
    return sent;
  }

  #take(queued: QueuedRequest, act: () => void): void {
    this.leave(queued);
    act();
  }
}
