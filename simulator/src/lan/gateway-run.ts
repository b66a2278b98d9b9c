import type { GatewayConfig } from "@farmgate/gateway";
import {
  type Choice,
  choose,
  fallbacksOf,
  groupOf,
  hasFreeSlot,
  nameRules,
  type ResolvedName,
  resolveName,
  type RoutingRequest,
  WaitingRoom,
  type WorkerConfig,
} from "@farmgate/gateway/policies";
import type { PollResult } from "@farmgate/engines";
import { FarmError } from "@farmgate/shared";
import { apiOf } from "./api-of-kind.ts";
import { CallRun } from "./call-run.ts";
import { FarmSight } from "./farm-sight.ts";
import { type AskedRequest, CODES, type GatewayDoer, type LeftBy, type RefusedBy } from "./gateway-doer.ts";
import { TurnRun } from "./turn-run.ts";

/** A request at the gateway. */
interface Routed {
  call: CallRun;
  name: ResolvedName;
  request: RoutingRequest;
  tried: Set<string>;
  /** Fallbacks that are still to be tried. */
  next: ResolvedName[] | null;
  conversation: number;
  /** Where it is now. */
  at: { choice: Choice; release: () => void; foundSlot: boolean; sentAt: number; firstMs: number } | null;
  /** It waits for a worker. */
  leaveRoom: (() => void) | null;
}

const NONE: ReadonlySet<string> = new Set();

/** The gateway in virtual time: what it sees of the farm, its choice of workers and its waiting room. */
export class GatewayRun {
  readonly #config: GatewayConfig;
  readonly #doer: GatewayDoer;
  readonly #names;
  readonly sight: FarmSight;
  readonly #room = new WaitingRoom();
  readonly #routed = new Map<number, Routed>();
  readonly #turn: TurnRun;
  /** By conversation: who answered it last. */
  readonly #lastWorker = new Map<number, string>();

  /** `isBlind`: what is loaded is not told to it. */
  constructor(config: GatewayConfig, workers: readonly WorkerConfig[], isBlind: boolean, doer: GatewayDoer) {
    this.#config = config;
    this.#doer = doer;
    this.sight = new FarmSight(config, workers, isBlind);
    this.#names = nameRules(config.models);
    this.#turn = new TurnRun({
      config,
      clock: doer.clock,
      room: this.#room,
      context: () => this.sight.context(0, this.now),
      calls: () => [...this.#routed.values()].map(({ call }) => call),
    });
  }

  get now(): number {
    return this.#doer.clock.now();
  }

  arrive(place: number, { model, tokens, conversation, hasPrefix, deadlineAt }: AskedRequest): void {
    const isBound = hasPrefix && this.#config.routing.affinity;
    const prefixWorker = isBound ? (this.#lastWorker.get(conversation) ?? null) : null;
    const name = resolveName(model, this.#names, this.sight.catalog);
    const request = this.#asRequest(name, prefixWorker);
    const call = new CallRun(tokens, deadlineAt, this.#doer.clock);
    const routed = {
      call,
      name,
      request,
      tried: new Set<string>(),
      next: null,
      conversation,
      at: null,
      leaveRoom: null,
    };
    this.#routed.set(place, routed);
    this.#noteUse(request.key);
    this.#route(place);
  }

  polled(worker: string, startedAt: number, told: PollResult): void {
    if (!this.sight.polled(worker, startedAt, told, this.now)) return;
    this.#room.wake();
    this.#turn.wake();
    this.#doer.catalogChanged();
  }

  /** The worker lets it out of its queue. */
  turnCame(place: number): void {
    this.#routed.get(place)?.call.turnCame();
  }

  /** The first token comes at that time. */
  firstToken(place: number, at: number): void {
    const routed = this.#routed.get(place);
    if (routed?.at == null) return;
    routed.at.firstMs = at - routed.at.sentAt;
    routed.call.begun(at);
  }

  served(place: number): void {
    const routed = this.#routed.get(place);
    if (routed?.at == null) return;
    const { choice, sentAt, firstMs, foundSlot } = routed.at;
    const { name } = choice.worker.config;
    this.#lastWorker.set(routed.conversation, name);
    this.sight.answered(choice, foundSlot, firstMs, this.now - sentAt);
    this.#turn.answered(routed.call);
    this.#leave(place, routed, null);
  }

  /** The worker did not take it: the next one. */
  turnedAway(place: number): void {
    const routed = this.#routed.get(place);
    if (routed?.at == null) return;
    const { release } = routed.at;
    routed.at = null;
    release();
    this.#route(place);
  }

  /** The worker that has it; null: it waits here, or is not here any more. */
  leave(place: number, why: LeftBy): string | null {
    const routed = this.#routed.get(place);
    if (routed === undefined) return null;
    const worker = routed.at?.choice.worker.config.name ?? null;
    this.#leave(place, routed, why);
    return worker;
  }

  /** Its deadline as it is now, in virtual milliseconds; null: it has none, or is not here any more. */
  deadlineOf(place: number): number | null {
    return this.#routed.get(place)?.call.deadlineAt ?? null;
  }

  /** Whether it waits here for a worker. */
  isWaiting(place: number): boolean {
    return this.#routed.get(place)?.leaveRoom != null;
  }

  /** `why` null: it was served. */
  #leave(place: number, routed: Routed, why: LeftBy | RefusedBy | null): void {
    this.#routed.delete(place);
    const listed = this.sight.catalog.union.get(routed.request.key);
    if (listed !== undefined) {
      const served = { status: why === null ? 200 : null, error: why === null ? null : new FarmError(CODES[why], "") };
      this.#doer.ended(listed.key, routed.call, served);
    }
    routed.leaveRoom?.();
    routed.at?.release();
  }

  #refuse(place: number, routed: Routed, why: RefusedBy): void {
    this.#leave(place, routed, why);
    this.#doer.refused(place, why);
  }

  /** With `scheduling: deadline` it waits for its turn first, unless it goes at once; as in the gateway. */
  #route(place: number): void {
    const routed = this.#routed.get(place);
    if (routed === undefined) return;
    const { call, request, tried } = routed;
    if (!this.#turn.isOn || tried.size > 0) return this.#routeNow(place, routed);
    const group = groupOf(request, tried);
    const waiting = this.#turn.waitingOf(call);
    const decision = this.#turn.inGroup(group) === 0 ? choose(request, this.sight.context(0, this.now), NONE) : null;
    if (decision?.kind === "send" && this.#turn.canBegin(waiting, request, decision.choice.worker.config.name)) {
      return this.#send(place, routed, decision.choice);
    }
    // It may go, or be refused, before it is all the way in.
    let isIn = true;
    const out = () => {
      isIn = false;
      routed.leaveRoom = null;
    };
    const leave = this.#turn.enter(
      call,
      waiting,
      { group, request },
      {
        send: (worker) => {
          const there = choose({ ...request, only: worker }, this.sight.context(0, this.now), NONE);
          if (there.kind !== "send") return false;
          out();
          this.#send(place, routed, there.choice);
          return true;
        },
        goOn: () => {
          out();
          this.#routeNow(place, routed);
        },
        refuse: () => {
          out();
          this.#refuse(place, routed, "deadline");
        },
        relaxed: (at) => this.#doer.relaxed(place, at),
      },
    );
    if (leave === null) this.#refuse(place, routed, "full");
    else if (isIn) routed.leaveRoom = leave;
  }

  #routeNow(place: number, routed: Routed): void {
    const { request, tried } = routed;
    const ahead = this.#config.routing.waitOrSwap ? this.#room.inGroup(groupOf(request, tried)) : 0;
    const decision = choose(request, this.sight.context(ahead, this.now), tried);
    if (decision.kind === "send") return this.#send(place, routed, decision.choice);
    if (decision.kind === "wait") return this.#wait(place, routed);
    if (tried.size === 0) routed.next ??= fallbacksOf(routed.name, this.#names, ["*"], this.sight.catalog);
    const other = routed.next?.shift();
    if (other !== undefined) {
      routed.request = this.#asRequest(other, null);
      routed.tried = new Set();
      return this.#route(place);
    }
    const why = decision.code === "model_not_found" ? "unknown" : "no_worker";
    this.#refuse(place, routed, tried.size > 0 ? "full" : why);
  }

  #wait(place: number, routed: Routed): void {
    const { request, tried } = routed;
    const waiter = {
      group: groupOf(request, tried),
      bytes: 0,
      tryGo: () => {
        const decision = choose(request, this.sight.context(0, this.now), tried);
        if (decision.kind === "wait") return false;
        routed.leaveRoom = null;
        if (decision.kind === "send") this.#send(place, routed, decision.choice);
        else this.#routeNow(place, routed);
        return true;
      },
      turnAway: () => {},
    };
    if (this.#room.enter(waiter, this.#config.limits)) {
      routed.leaveRoom = () => this.#room.leave(waiter);
      return;
    }
    this.#refuse(place, routed, "full");
  }

  #send(place: number, routed: Routed, choice: Choice): void {
    const { request } = routed;
    const { worker, model } = choice;
    const { name } = worker.config;
    const { waitOrSwap } = this.#config.routing;
    const isFree = () => hasFreeSlot(worker, model, this.sight.inflight.worker(name), request, this.sight);
    const foundSlot = waitOrSwap && !model?.queued && isFree();
    this.sight.turns.picked(name, request.key, choice.turnWeight);
    const leave = this.sight.inflight.enter(name, request.key);
    const release = () => {
      leave();
      routed.call.place = null;
      this.#room.wake();
      this.#turn.wake();
    };
    routed.tried.add(name);
    routed.call.sentTo(choice);
    routed.at = { choice, release, foundSlot, sentAt: this.now, firstMs: 0 };
    this.#doer.send(place, name, choice.upstreamModel, this.#lastWorker.get(routed.conversation) === name);
  }

  #noteUse(key: string): void {
    const listed = this.sight.catalog.union.get(key);
    if (listed === undefined) return;
    this.sight.recentUse.asked(listed.key, this.now);
    this.#doer.asked(listed.key);
  }

  #asRequest({ key, name, worker }: ResolvedName, prefixWorker: string | null): RoutingRequest {
    const api = apiOf(this.sight.catalog.union.get(key)?.kind ?? "chat");
    return { key, name, api, ways: [api], spent: NONE, only: worker, held: null, patterns: ["*"], prefixWorker };
  }
}
