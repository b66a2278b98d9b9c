import { askedMs, PlacementController } from "@farmgate/gateway/policies";
import { type Clock, type Random, seededRandom } from "@farmgate/shared";
import type { Trace } from "../trace/types.ts";
import { clockOf } from "../virtual/clock-of.ts";
import { EventQueue } from "../virtual/event-queue.ts";
import { AgentRun } from "./agent-run.ts";
import { answerTimes } from "./answer-times.ts";
import { DeskRun } from "./desk-run.ts";
import { EngineRun } from "./engine-run.ts";
import type { LanFarm, LanWorker } from "./farm.ts";
import type { GatewayDoer, LeftBy } from "./gateway-doer.ts";
import { GatewayRun } from "./gateway-run.ts";
import { GATHER_MS, KeeperRun, REGULAR_MS } from "./keeper-run.ts";
import { Ledger, OUTCOME, type Outcome } from "./ledger.ts";
import type { LanEvent, LanHost, WorkerFigures, WorkerRun } from "./worker-run.ts";

export interface ReplayOptions {
  seed: number;
  /** After so many milliseconds without its whole answer a caller leaves. */
  callerTimeoutMs: number;
}

export interface Replay {
  ledger: Ledger;
  workers: readonly WorkerFigures[];
  /** By worker and model. */
  loadsOf: readonly ReadonlyMap<string, number>[];
  /** Virtual milliseconds at which the last request ended. */
  endedAt: number;
  events: number;
}

/** What placement says of its plans nobody reads. */
const SILENT = { info: () => {}, warn: () => {} };

/** How far a poll may come before or after its time, as the gateway has it. */
const JITTER = 0.1;

/**
 * Replays a trace against a farm in virtual time, open loop: who asks does not wait for earlier answers. The deciders
 * are those that run live; networks and the programs' own work take no time.
 */
export function replay(farm: LanFarm, trace: Trace, options: ReplayOptions): Replay {
  return new World(farm, trace, options).run();
}

class World implements LanHost {
  now = 0;
  readonly #farm: LanFarm;
  readonly #trace: Trace;
  readonly #options: ReplayOptions;
  readonly #random: Random;
  readonly #events = new EventQueue<LanEvent>();
  readonly #ledger: Ledger;
  readonly #workers: readonly WorkerRun[];
  readonly #placeOf: ReadonlyMap<string, number>;
  readonly #gateway: GatewayRun;
  readonly #clock: Clock;
  readonly #keeper: KeeperRun;
  readonly #placement: PlacementController;
  #isLookDue = false;
  #open: number;
  #played = 0;

  constructor(farm: LanFarm, trace: Trace, options: ReplayOptions) {
    this.#farm = farm;
    this.#trace = trace;
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#open = trace.at.length;
    this.#ledger = new Ledger(trace.at.length);
    this.#placeOf = new Map(farm.workers.map(({ config }, i) => [config.name, i]));
    const configs = farm.workers.map(({ config }) => config);
    this.#clock = clockOf(
      () => this.now,
      (ms, run) => this.at(ms, { do: "timer", run }),
    );
    this.#gateway = new GatewayRun(farm.gateway, configs, farm.ignoresResidency, this.#doer());
    const deps = { clock: this.#clock, catalog: this.#catalog() };
    const desk = new DeskRun({ ...deps, give: (kind, worker, model) => this.#workerNamed(worker)?.[kind](model) });
    this.#keeper = new KeeperRun(farm.gateway, this.#gateway, desk);
    this.#placement = new PlacementController({
      ...deps,
      desk,
      keeper: this.#keeper,
      inflight: this.#gateway.sight.inflight,
      random: seededRandom(options.seed + 1),
      log: SILENT,
      count: () => {},
      right: { isHeld: true },
    });
    // What a farm has learned before is no part of its file.
    this.#placement.configure({ ...farm.gateway.placement, stateDir: null });
    this.#workers = farm.workers.map((worker, i) =>
      worker.kind === "agent"
        ? new AgentRun(i, worker, this, longestAnswerMs(worker, trace))
        : new EngineRun(i, worker, this),
    );
  }

  run(): Replay {
    for (const worker of this.#workers) if (worker instanceof AgentRun) worker.begin();
    for (const [i] of this.#workers.entries()) this.#poll(i);
    if (this.#looks) this.at(0, { do: "look", regular: true });
    this.#placement.start();
    if (this.#open > 0) this.at(this.#trace.at[0] ?? 0, { do: "arrive", request: 0 });
    while (this.#open > 0) {
      const next = this.#events.pop();
      if (next === undefined) throw new Error("requests are left and nothing is to happen");
      this.now = next.at;
      this.#played += 1;
      this.#take(next.event);
    }
    return {
      ledger: this.#ledger,
      workers: this.#workers.map((worker) => worker.figures(this.now)),
      loadsOf: this.#workers.map(({ loadsOf }) => loadsOf),
      endedAt: this.now,
      events: this.#played,
    };
  }

  at(ms: number, event: LanEvent): void {
    this.#events.push(Math.max(ms, this.now), event);
  }

  started(request: number, firstTokenAt: number): void {
    this.#ledger.started(request, this.now, firstTokenAt);
    this.#gateway.firstToken(request, firstTokenAt);
  }

  served(request: number): void {
    this.#gateway.served(request);
    this.#end(request, OUTCOME.served);
  }

  turnedAway(request: number): void {
    this.#gateway.turnedAway(request);
  }

  promised(request: number, ms: number): void {
    this.#ledger.promisedMs[request] = ms;
  }

  granted(request: number, queuedMs: number): void {
    this.#ledger.queuedMs[request] = queuedMs;
    this.#gateway.turnCame(request);
  }

  /** Whether anybody gives orders. */
  get #looks(): boolean {
    return !this.#keeper.isIdle || this.#farm.gateway.placement.mode !== "off";
  }

  #catalog() {
    const { sight } = this.#gateway;
    return {
      get current() {
        return sight.catalog;
      },
    };
  }

  #doer(): GatewayDoer {
    return {
      clock: this.#clock,
      send: (...sent) => this.#send(...sent),
      refused: (request, why) => this.#end(request, why === "unknown" ? OUTCOME.unknown : OUTCOME.refused),
      relaxed: (request, at) => this.at(at, { do: "give-up", request, why: "deadline" }),
      asked: (key) => this.#placement.asked(key, this.now),
      ended: (key, call, served) => {
        const figures = this.#placement.figuresOf(call, served);
        const { prompt, output } = call.tokens;
        const usage = served.status === null ? null : { prompt, completion: output };
        if (figures !== null) this.#placement.ended(key, figures, usage);
      },
      catalogChanged: () => {
        if (!this.#looks || this.#isLookDue) return;
        this.#isLookDue = true;
        this.at(this.now + GATHER_MS, { do: "look", regular: false });
      },
    };
  }

  #take(event: LanEvent): void {
    switch (event.do) {
      case "arrive":
        return this.#arrive(event.request);
      case "give-up":
        return this.#giveUp(event.request, event.why);
      case "poll":
        return this.#poll(event.worker);
      case "look":
        return this.#look(event.regular);
      case "timer":
        return event.run();
      case "answered":
      case "loaded":
      case "unloaded":
      case "wake":
        this.#workers[event.worker]?.take(event);
    }
  }

  #arrive(request: number): void {
    const { at, app, applications, input, output, prefix, deadline } = this.#trace;
    const next = request + 1;
    if (next < at.length) this.at(at[next] ?? 0, { do: "arrive", request: next });
    const place = app[request] ?? 0;
    this.at(this.now + this.#options.callerTimeoutMs, { do: "give-up", request, why: "caller" });
    const conversation = place * 65_536 + this.#keyOf(request);
    const limit = askedMs(deadline?.[request] || null, null, this.#farm.gateway.deadlines);
    const deadlineAt = limit === null ? null : this.now + limit;
    if (deadlineAt !== null) this.at(deadlineAt, { do: "give-up", request, why: "deadline" });
    const model = applications[place] ?? "";
    const tokens = { prompt: input[request] ?? 0, output: output[request] ?? 0 };
    const hasPrefix = (prefix?.[request] ?? 0) > 0;
    this.#gateway.arrive(request, { model, tokens, conversation, hasPrefix, deadlineAt });
    if (!this.#gateway.isWaiting(request)) return;
    this.at(this.now + this.#farm.gateway.limits.queueWait, { do: "give-up", request, why: "queue" });
  }

  #giveUp(request: number, why: LeftBy): void {
    if (!this.#ledger.isOpen(request)) return;
    if (why === "queue" && !this.#gateway.isWaiting(request)) return;
    if (why === "deadline" && !this.#isLate(request)) return;
    const worker = this.#gateway.leave(request, why);
    if (worker !== null) this.#workers[this.#placeOf.get(worker) ?? -1]?.leave(request);
    this.#end(request, OUTCOME.timedOut);
  }

  /** No token has come, and its deadline was not made a later one. */
  #isLate(request: number): boolean {
    const hasBegun = (this.#ledger.firstTokenAt[request] ?? 0) <= this.now;
    return !hasBegun && (this.#gateway.deadlineOf(request) ?? 0) <= this.now;
  }

  #send(request: number, worker: string, model: string, holdsPrefix: boolean): void {
    const { input, output, prefix } = this.#trace;
    const place = this.#placeOf.get(worker) ?? -1;
    const known = holdsPrefix ? (prefix?.[request] ?? 0) : 0;
    this.#ledger.worker[request] = place;
    const prompt = Math.max(1, (input[request] ?? 0) - known);
    const key = this.#keyOf(request);
    const caller = { name: key === 0 ? "" : String(key), isBatch: this.#trace.batch?.[request] === 1 };
    this.#workers[place]?.submit(request, model, { prompt, output: output[request] ?? 0 }, caller);
  }

  #keyOf(request: number): number {
    return this.#trace.key?.[request] ?? 0;
  }

  #end(request: number, outcome: Outcome): void {
    this.#ledger.ended(request, outcome, this.now);
    this.#open -= 1;
  }

  #poll(worker: number): void {
    const run = this.#workers[worker];
    const config = this.#farm.workers[worker]?.config;
    if (run === undefined || config === undefined) return;
    const spread = 1 + JITTER * (2 * this.#random() - 1);
    this.at(this.now + this.#farm.gateway.health.interval * spread, { do: "poll", worker });
    this.#gateway.polled(config.name, this.now, run.poll());
  }

  #look(regular: boolean): void {
    if (regular) this.at(this.now + REGULAR_MS, { do: "look", regular });
    else this.#isLookDue = false;
    this.#keeper.look();
  }

  #workerNamed(name: string): WorkerRun | undefined {
    return this.#workers[this.#placeOf.get(name) ?? -1];
  }
}

/** The longest that an answer of the trace takes there, milliseconds. */
function longestAnswerMs(worker: LanWorker & { kind: "agent" }, trace: Trace): number {
  let prompt = 0;
  let output = 0;
  for (const tokens of trace.input) prompt = Math.max(prompt, tokens);
  for (const tokens of trace.output) output = Math.max(output, tokens);
  // What an agent grants beyond the slots of the engine waits inside that.
  const times = worker.models.map(({ served, speed }) => {
    return answerTimes(speed, { prompt, output }).ms * Math.ceil(served.slots / speed.slots);
  });
  return Math.max(0, ...times);
}
