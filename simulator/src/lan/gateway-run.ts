import type { GatewayConfig } from "@farmgate/gateway";
import {
  type Choice,
  choose,
  emptyCatalog,
  fallbacksOf,
  groupOf,
  hasFreeSlot,
  Inflight,
  LastCopies,
  Learned,
  nameRules,
  RecentUse,
  reduce,
  type ResolvedName,
  resolveName,
  type RoutingContext,
  type RoutingRequest,
  type TrackedCatalog,
  Turns,
  WaitingRoom,
  type WorkerConfig,
} from "@farmgate/gateway/policies";
import type { PollResult } from "@farmgate/engines";
import { type Api, nameKey } from "@farmgate/shared";

/** A request at the gateway. */
interface Routed {
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

/** What becomes of a request that was put to the gateway. */
export interface GatewayDoer {
  readonly now: number;
  /** Send it there. `holdsPrefix`: the worker answered its conversation last. */
  send(request: number, worker: string, model: string, holdsPrefix: boolean): void;
  /** Nothing can serve it. */
  refused(request: number, why: "unknown" | "no_worker" | "full"): void;
  catalogChanged(): void;
}

const NONE: ReadonlySet<string> = new Set();

/** The gateway in virtual time: its own catalogue, choice of workers, counts and waiting room. */
export class GatewayRun {
  readonly #config: GatewayConfig;
  readonly #doer: GatewayDoer;
  readonly #names;
  readonly #isBlind: boolean;
  readonly #turns = new Turns();
  readonly #learned = new Learned();
  readonly #room = new WaitingRoom();
  readonly #routed = new Map<number, Routed>();
  /** What each worker told last. */
  readonly #told = new Map<string, PollResult>();
  /** By conversation: who answered it last. */
  readonly #lastWorker = new Map<number, string>();
  readonly inflight = new Inflight();
  readonly recentUse = new RecentUse();
  readonly lastCopies = new LastCopies(this.recentUse);
  catalog: TrackedCatalog = emptyCatalog();

  /** `isBlind`: what is loaded is not told to it. */
  constructor(config: GatewayConfig, workers: readonly WorkerConfig[], isBlind: boolean, doer: GatewayDoer) {
    this.#config = config;
    this.#doer = doer;
    this.#isBlind = isBlind;
    this.#names = nameRules(config.models);
    this.catalog = reduce(this.catalog, { type: "configured", workers }, 0, config.health);
  }

  /** `conversation`: whose prompts have a beginning in common; `hasPrefix`: this one has some of it. */
  arrive(place: number, conversation: number, asked: string, hasPrefix: boolean): void {
    const isBound = hasPrefix && this.#config.routing.affinity;
    const prefixWorker = isBound ? (this.#lastWorker.get(conversation) ?? null) : null;
    const name = resolveName(asked, this.#names, this.catalog);
    const request = this.#asRequest(name, prefixWorker);
    this.#routed.set(place, { request, tried: new Set(), next: null, conversation, at: null, leaveRoom: null });
    this.#noteUse(request.key);
    this.#route(place, name);
  }

  polled(worker: string, startedAt: number, told: PollResult): void {
    if (told.kind === "ok") this.inflight.polled(worker);
    // A worker to which nothing has happened tells the very same, of which nothing follows but that it is as new.
    if (this.#told.get(worker) === told) return;
    this.#told.set(worker, told);
    const result = this.#isBlind ? withoutResidency(told) : told;
    const before = this.catalog.version;
    const event = { type: "polled", worker, startedAt, result } as const;
    this.catalog = reduce(this.catalog, event, this.#doer.now, this.#config.health);
    if (this.catalog.version === before) return;
    this.#room.wake();
    this.#doer.catalogChanged();
  }

  /** The first token comes so long after it was sent. */
  firstToken(place: number, at: number): void {
    const routed = this.#routed.get(place);
    if (routed?.at != null) routed.at.firstMs = at - routed.at.sentAt;
  }

  served(place: number): void {
    const routed = this.#routed.get(place);
    if (routed?.at == null) return;
    const { choice, sentAt, firstMs, foundSlot } = routed.at;
    const { name } = choice.worker.config;
    this.#lastWorker.set(routed.conversation, name);
    this.#learn(choice, foundSlot, firstMs, this.#doer.now - sentAt);
    this.#leave(place, routed);
  }

  /** The worker did not take it: the next one. */
  turnedAway(place: number): void {
    const routed = this.#routed.get(place);
    if (routed?.at == null) return;
    const { release } = routed.at;
    routed.at = null;
    release();
    this.#route(place, null);
  }

  /** The worker that has it; null: it waits here, or is not here any more. */
  leave(place: number): string | null {
    const routed = this.#routed.get(place);
    if (routed === undefined) return null;
    const worker = routed.at?.choice.worker.config.name ?? null;
    this.#leave(place, routed);
    return worker;
  }

  isWaiting(place: number): boolean {
    return this.#routed.get(place)?.leaveRoom != null;
  }

  #leave(place: number, routed: Routed): void {
    this.#routed.delete(place);
    routed.leaveRoom?.();
    routed.at?.release();
  }

  #route(place: number, name: ResolvedName | null): void {
    const routed = this.#routed.get(place);
    if (routed === undefined) return;
    const { request, tried } = routed;
    const ahead = this.#config.routing.waitOrSwap ? this.#room.inGroup(groupOf(request, tried)) : 0;
    const decision = choose(request, this.#context(ahead), tried);
    if (decision.kind === "send") return this.#send(place, routed, decision.choice);
    if (decision.kind === "wait") return this.#wait(place, routed);
    if (name !== null) routed.next = fallbacksOf(name, this.#names, ["*"], this.catalog);
    const other = routed.next?.shift();
    if (other !== undefined) {
      routed.request = this.#asRequest(other, null);
      routed.tried = new Set();
      return this.#route(place, null);
    }
    this.#routed.delete(place);
    const why = decision.code === "model_not_found" ? "unknown" : "no_worker";
    this.#doer.refused(place, tried.size > 0 ? "full" : why);
  }

  #wait(place: number, routed: Routed): void {
    const { request, tried } = routed;
    const waiter = {
      group: groupOf(request, tried),
      bytes: 0,
      tryGo: () => {
        const decision = choose(request, this.#context(0), tried);
        if (decision.kind === "wait") return false;
        routed.leaveRoom = null;
        if (decision.kind === "send") this.#send(place, routed, decision.choice);
        else this.#route(place, null);
        return true;
      },
      turnAway: () => {},
    };
    if (this.#room.enter(waiter, this.#config.limits)) {
      routed.leaveRoom = () => this.#room.leave(waiter);
      return;
    }
    this.#routed.delete(place);
    this.#doer.refused(place, "full");
  }

  #send(place: number, routed: Routed, choice: Choice): void {
    const { request } = routed;
    const { worker, model } = choice;
    const { name } = worker.config;
    const { waitOrSwap } = this.#config.routing;
    const isFree = () => hasFreeSlot(worker, model, this.inflight.worker(name), request, this);
    const foundSlot = waitOrSwap && !model?.queued && isFree();
    this.#turns.picked(name, request.key, choice.turnWeight);
    const leave = this.inflight.enter(name, request.key);
    const release = () => {
      leave();
      this.#room.wake();
    };
    routed.tried.add(name);
    routed.at = { choice, release, foundSlot, sentAt: this.#doer.now, firstMs: 0 };
    this.#doer.send(place, name, choice.upstreamModel, this.#lastWorker.get(routed.conversation) === name);
  }

  #learn(choice: Choice, foundSlot: boolean, firstByteMs: number, ms: number): void {
    const { warmth, worker, upstreamModel } = choice;
    if (!this.#config.routing.waitOrSwap) return;
    if (warmth !== "cold" && !(warmth === "warm" && foundSlot)) return;
    const found = { found: warmth, streamed: true, firstByteMs, ms } as const;
    this.#learned.answered(worker.config.name, nameKey(upstreamModel), found);
  }

  #noteUse(key: string): void {
    const listed = this.catalog.union.get(key);
    if (listed !== undefined) this.recentUse.asked(listed.key, this.#doer.now);
  }

  #asRequest({ key, name, worker }: ResolvedName, prefixWorker: string | null): RoutingRequest {
    const api = apiOf(this.catalog.union.get(key)?.kind ?? "chat");
    return { key, name, api, ways: [api], spent: NONE, only: worker, held: null, patterns: ["*"], prefixWorker };
  }

  #context(waitingAhead: number): RoutingContext {
    const { strategy, waitOrSwap } = this.#config.routing;
    const { catalog, inflight, lastCopies } = this;
    const plain = { catalog, inflight, turns: this.#turns, strategy, now: this.#doer.now };
    if (this.#isBlind) return plain;
    if (!waitOrSwap) return { ...plain, lastCopies };
    return { ...plain, lastCopies, pricing: { learned: this.#learned, inflight, waitingAhead } };
  }
}

const API_OF_KIND: Readonly<Record<string, Api>> = {
  embedding: "embeddings",
  embeddings: "embeddings",
  rerank: "rerank",
  audio: "transcriptions",
  image: "image-generations",
};

/** As what a trace's request for a model of this kind is asked. */
function apiOf(kind: string): Api {
  return API_OF_KIND[kind] ?? "chat";
}

function withoutResidency(result: PollResult): PollResult {
  if (result.kind !== "ok") return result;
  const models = result.report.models.map((model) => ({ ...model, state: "unknown" as const }));
  return { ...result, report: { ...result.report, models } };
}
