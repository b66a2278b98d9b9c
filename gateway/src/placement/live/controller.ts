import { type Clock, formatDuration, type Random } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { CatalogStore } from "../../catalog/store.ts";
import type { Served } from "../../proxy/accounts.ts";
import type { InflightByModel } from "../../routing/types.ts";
import type { OrderRight } from "../../together/placing-lease.ts";
import type { Keeper } from "../keeper.ts";
import type { OrderDesk, OrderedPair } from "../order-desk.ts";
import { Deeds } from "./deeds.ts";
import { replicaId } from "./farm-bins.ts";
import { reaches } from "./reach.ts";
import { Regrets } from "./regrets.ts";
import { noteTrial, weighPlan } from "./weigh-plan.ts";
import { guardActions, type GuardView, whyNoRelease } from "./guard-actions.ts";
import { LearningTurns } from "./learning-turns.ts";
import { Observations } from "./observations.ts";
import { OracleKeeper } from "./oracle-keeper.ts";
import { type Planner, planWith } from "./plan-with.ts";
import { PlanWords } from "./plan-words.ts";
import { poolsPlanner } from "./pools-planner.ts";
import { type EndedCall, requestFigures, type UncountedFigures } from "./request-figures.ts";
import type { PlacementSettings } from "./settings.ts";
import { isQuiet, type Session, type SessionView } from "./session.ts";
import { spansOf } from "./spans.ts";

/** Whom it gives its orders to. */
export interface PlacementDesk extends Pick<OrderDesk, "book" | "unloading" | "stopped" | "whyNoUnload" | "tell"> {
  keepsAll: boolean;
}

export interface ControllerDeps {
  clock: Clock;
  log: Pick<Log, "info" | "warn">;
  catalog: Pick<CatalogStore, "current">;
  inflight: InflightByModel;
  keeper: Pick<Keeper, "view" | "wanted">;
  desk: PlacementDesk;
  random: Random;
  /** How it plans; absent: by the two pools. */
  planner?: (settings: PlacementSettings) => Planner;
  count(kind: string, result: string): void;
  right: Pick<OrderRight, "isHeld">;
}

/**
 * Places models by what is observed: thinly, since what is decided is decided in pure functions. Requests never wait for
 * it, and when it fails the farm goes on as without it.
 */
export class PlacementController {
  readonly #deps: ControllerDeps;
  #session: Session | null = null;
  #started = false;
  #stopped = false;
  #cancelTick = (): void => {};

  constructor(deps: ControllerDeps) {
    this.#deps = deps;
  }

  get session(): SessionView | null {
    return this.#session;
  }

  /** From now on. What was observed is kept unless it was observed in another way. */
  configure(settings: PlacementSettings): void {
    const before = this.#session;
    this.#deps.desk.keepsAll = settings.mode === "auto";
    if (settings.mode === "off") {
      this.#end();
      return;
    }
    const { clock, log } = this.#deps;
    const isSame = before !== null && before.settings.window === settings.window;
    const isKept = before !== null && before.settings.stateDir === settings.stateDir;
    const seen = isSame ? before.seen : new Observations(spansOf(settings));
    if (before !== null && !isKept) void before.learning.close();
    const observed = () => this.#session?.seen ?? seen;
    this.#session = {
      settings,
      seen,
      learning: isKept ? before.learning : new OracleKeeper(settings.stateDir, { ...this.#deps, seen: observed }),
      planner: (this.#deps.planner ?? poolsPlanner)(settings),
      deeds: before?.deeds ?? new Deeds({ ...this.#deps, mayGo: (pair) => this.#mayGo(pair) }),
      regrets: before?.regrets ?? new Regrets(),
      plan: null,
      acted: before?.acted ?? null,
      wrong: new Set(),
      trouble: null,
      retryAt: 0,
      turns: new LearningTurns(settings.window, clock.now()),
      usedAt: clock.now(),
      words: new PlanWords(this.#deps),
      leaving: new Map(),
    };
    // Advice is all that is given from now on.
    if (settings.mode !== "auto") this.#session.deeds.endMoves();
    if (before?.settings.mode !== settings.mode) log.info({ mode: settings.mode }, "placement is on");
    if (this.#started) this.#tickSoon();
  }

  /** Begins to plan: once the first catalogues are there. */
  start(): void {
    this.#started = true;
    if (this.#session !== null) this.#tickSoon();
  }

  /** The right to order was won or lost: what was begun is the other's now, and what was planned is outdated. */
  rightChanged(): void {
    if (this.#session === null || this.#deps.right.isHeld) return;
    this.#session.deeds.endMoves();
    Object.assign(this.#session, { plan: null, acted: null });
  }

  /** Resolves once what was learned is written. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelTick();
    await this.#session?.learning.close();
  }

  /** A request for the model of this key of the catalogue came. */
  asked(key: string, now: number): void {
    if (this.#session === null) return;
    this.#session.usedAt = now;
    this.#session.seen.asked(key, now);
  }

  /** What there is to be told of a request that has ended; null: nothing, placement is off. */
  figuresOf(call: EndedCall, served: Served): UncountedFigures | null {
    return this.#session === null ? null : requestFigures(call, served, this.#session.settings.target);
  }

  /** The rest of it, once its usage was read. */
  ended(
    key: string,
    figures: UncountedFigures,
    usage: { prompt: number | null; completion: number | null } | null,
  ): void {
    if (this.#session === null) return;
    const tokens = { input: usage?.prompt ?? null, output: usage?.completion ?? null };
    const now = this.#deps.clock.now();
    this.#session.usedAt = now;
    this.#session.seen.ended(key, { ...figures, ...tokens }, now);
  }

  /** For metrics: copies that the plan counts, those that nothing may touch left out. */
  replicas(): { model: string; pool: string; replicas: number }[] {
    const { plan, planner } = this.#session ?? { plan: null, planner: null };
    const counts = new Map<string, number>();
    for (const { model, state } of plan?.bins.replicas ?? []) {
      if (state === "active") counts.set(model, (counts.get(model) ?? 0) + 1);
    }
    const { union } = this.#deps.catalog.current;
    return [...counts].map(([key, replicas]) => ({
      model: union.get(key)?.id ?? "other",
      pool: planner?.poolOf(key) ?? "stable",
      replicas,
    }));
  }

  #end(): void {
    this.#cancelTick();
    if (this.#session === null) return;
    void this.#session.learning.close();
    this.#session = null;
    this.#deps.log.info({}, "placement is off");
  }

  #tickSoon(): void {
    this.#cancelTick();
    const session = this.#session;
    if (session === null || this.#stopped) return;
    this.#cancelTick = this.#deps.clock.after(session.settings.elasticEvery, () => {
      this.#tick(session);
      this.#tickSoon();
    });
  }

  /** Whatever goes wrong here goes wrong alone: the plain farm goes on, and it is tried again later. */
  #tick(session: Session): void {
    const { clock, log } = this.#deps;
    if (session.retryAt > clock.now()) return;
    try {
      const trouble = this.#step(session);
      if (trouble !== null) this.#rest(session, trouble);
      else if (session.trouble !== null) {
        session.trouble = null;
        log.info({}, "placement goes on");
      }
    } catch (error) {
      this.#rest(session, `it failed (${error instanceof Error ? error.message : String(error)})`, error);
    }
  }

  #rest(session: Session, trouble: string, err?: unknown): void {
    const { clock, log } = this.#deps;
    if (session.trouble !== trouble) log.warn({ err }, `placement rests and the farm goes on without it: ${trouble}`);
    session.trouble = trouble;
    session.retryAt = clock.now() + session.settings.stableEvery;
  }

  /** One plan and its orders. Gives why there is none to be trusted; null: there is, or nothing is to be planned. */
  #step(session: Session): string | null {
    const { clock, catalog, desk } = this.#deps;
    const { seen, settings } = session;
    const now = clock.now();
    const { union, workers } = catalog.current;
    const listed = new Set([...union.values()].map(({ key }) => key));
    seen.keepOnly(listed, new Set(workers.map(({ config }) => config.name)));
    // Who plans is who orders: two plans at once would undo each other's work.
    if (!this.#deps.right.isHeld) return null;
    session.deeds.look();
    const inUse = seen.inUse(now);
    const { oracle } = session.learning;
    if (inUse.length === 0 || oracle === null || isQuiet(session, now)) return null;
    oracle.look(catalog.current, inUse, now);
    const turns = session.turns.take(inUse, now);
    if (turns.length > 0) {
      oracle.learn(catalog.current, seen, inUse, turns, now);
      session.learning.save();
    }
    session.learning.fitNext();
    const wrong = new Set(inUse.filter((key) => oracle.plainlyWrong(key)));
    session.words.sayWrong(wrong, session.wrong);
    session.wrong = wrong;
    if (wrong.size === inUse.length) return "what it expects of every model in use is plainly wrong";
    const { book: orders, unloading } = desk;
    const view = { catalog: catalog.current, orders, unloading, now, wanted: this.#deps.keeper.wanted, wrong };
    const { caution, share } = settings;
    const { capacity, elasticity } = oracle;
    const reach = reaches(catalog.current, seen, seen.keys(), { targetMs: settings.target, now });
    session.plan = planWith(session.planner, { ...view, replacing: session.deeds.replacing }, seen, {
      capacity,
      elasticity,
      caution,
      share,
      observed: (key) => oracle.observed(seen, key, now),
      whyNoHelp: (worker, key) => reach(worker, key).why,
    });
    if (session.plan.bins.bins.length === 0) return "no worker tells what it has loaded now";
    const guardView = this.#guardView();
    if (guardView === null) return null;
    const { plan, regrets } = session;
    const worth = weighPlan({ plan, seen, regrets, settings }, catalog.current, reach);
    session.leaving = new Map(
      worth.actions.flatMap((action) =>
        action.kind === "release" ? [[action.replica, session.leaving.get(action.replica) ?? now]] : [],
      ),
    );
    const actions = worth.actions.filter((action) => !session.deeds.isMoving(action));
    const guardeds = [...guardActions(actions, guardView), ...worth.turnedDown];
    if (guardeds.length > 0) session.acted = { at: now, guarded: guardeds };
    session.words.sayNew(guardeds, settings, now);
    if (settings.mode === "auto") {
      for (const guarded of guardeds) {
        session.deeds.order(guarded);
        noteTrial({ plan, seen, regrets }, guarded);
      }
    }
    return null;
  }

  /** Of a copy that was moved. */
  #mayGo({ worker, key }: OrderedPair): boolean {
    const view = this.#guardView();
    const replica = view?.replicas.find(({ id }) => id === replicaId(worker, key));
    return view !== null && replica !== undefined && whyNoRelease(replica, [], view) === null;
  }

  #guardView(): GuardView | null {
    const { keeper, inflight, desk } = this.#deps;
    const session = this.#session;
    if (session === null || session.plan === null) return null;
    const view = keeper.view();
    const { replicas } = session.plan.bins;
    const whyNoUnload = (worker: string, key: string) => desk.whyNoUnload(worker, key);
    const whyHeld = (replica: string) => {
      const rest = (session.leaving.get(replica) ?? view.now) + session.settings.hold - view.now;
      return rest > 0 ? `keeps it for ${formatDuration(rest)} more` : null;
    };
    return {
      ...view,
      whyNoUnload,
      whyHeld,
      inflight,
      wanted: keeper.wanted,
      replicas,
      isInUse: (key) => session.seen.isOfToday(key, view.now),
    };
  }
}
