import type { PlacementView } from "@farmgate/gateway/policies";
import { type Random, seededRandom } from "@farmgate/shared";
import type { Trace } from "../trace/types.ts";
import { EventQueue } from "../virtual/event-queue.ts";
import { AgentRun } from "./agent-run.ts";
import { answerTimes } from "./answer-times.ts";
import { EngineRun } from "./engine-run.ts";
import type { LanFarm, LanWorker } from "./farm.ts";
import { GatewayRun } from "./gateway-run.ts";
import { GATHER_MS, KeeperRun, REGULAR_MS } from "./keeper-run.ts";
import { Ledger, OUTCOME, type Outcome } from "./ledger.ts";
import type { LanEvent, LanHost, WorkerFigures, WorkerRun } from "./worker-run.ts";

/** Who decides on loads beside the requests. */
export interface LanPlacement {
  everyMs: number;
  decide(view: PlacementView): readonly { do: "load" | "unload"; worker: string; model: string }[];
}

export interface ReplayOptions {
  seed: number;
  /** After so many milliseconds without its whole answer a caller leaves. */
  callerTimeoutMs: number;
  /** Absent: none beside `models.keepWarm`. */
  placement?: LanPlacement;
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
  readonly #keeper: KeeperRun;
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
    this.#gateway = new GatewayRun(farm.gateway, configs, farm.ignoresResidency, this.#doer());
    this.#keeper = new KeeperRun(farm.gateway);
    this.#workers = farm.workers.map((worker, i) =>
      worker.kind === "agent"
        ? new AgentRun(i, worker, this, longestAnswerMs(worker, trace))
        : new EngineRun(i, worker, this),
    );
  }

  run(): Replay {
    for (const worker of this.#workers) if (worker instanceof AgentRun) worker.begin();
    for (const [i] of this.#workers.entries()) this.#poll(i);
    if (!this.#keeper.isIdle) this.at(0, { do: "look", regular: true });
    if (this.#options.placement !== undefined) this.at(0, { do: "place" });
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
  }

  #doer() {
    const now = () => this.now;
    return {
      get now() {
        return now();
      },
      send: (request: number, worker: string, model: string, holdsPrefix: boolean) =>
        this.#send(request, worker, model, holdsPrefix),
      refused: (request: number, why: "unknown" | "no_worker" | "full") =>
        this.#end(request, why === "unknown" ? OUTCOME.unknown : OUTCOME.refused),
      catalogChanged: () => {
        if (this.#keeper.isIdle || this.#isLookDue) return;
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
      case "place":
        return this.#place();
      case "answered":
      case "loaded":
      case "unloaded":
      case "wake":
        this.#workers[event.worker]?.take(event);
    }
  }

  #arrive(request: number): void {
    const { at, app, applications, prefix, deadline } = this.#trace;
    const next = request + 1;
    if (next < at.length) this.at(at[next] ?? 0, { do: "arrive", request: next });
    const place = app[request] ?? 0;
    this.at(this.now + this.#options.callerTimeoutMs, { do: "give-up", request, why: "caller" });
    const conversation = place * 65_536 + this.#keyOf(request);
    const limit = deadline?.[request] ?? 0;
    if (limit > 0) this.at(this.now + limit, { do: "give-up", request, why: "deadline" });
    this.#gateway.arrive(request, conversation, applications[place] ?? "", (prefix?.[request] ?? 0) > 0);
    if (!this.#gateway.isWaiting(request)) return;
    this.at(this.now + this.#farm.gateway.limits.queueWait, { do: "give-up", request, why: "queue" });
  }

  #giveUp(request: number, why: "caller" | "queue" | "deadline"): void {
    if (!this.#ledger.isOpen(request)) return;
    if (why === "queue" && !this.#gateway.isWaiting(request)) return;
    if (why === "deadline" && (this.#ledger.firstTokenAt[request] ?? 0) <= this.now) return;
    const worker = this.#gateway.leave(request);
    if (worker !== null) this.#workers[this.#placeOf.get(worker) ?? -1]?.leave(request);
    this.#end(request, OUTCOME.timedOut);
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
    for (const { worker, model } of this.#keeper.look(this.#gateway, this.now)) this.#workerNamed(worker)?.load(model);
  }

  #place(): void {
    const { placement } = this.#options;
    if (placement === undefined) return;
    this.at(this.now + placement.everyMs, { do: "place" });
    for (const order of placement.decide(this.#keeper.view(this.#gateway, this.now))) {
      const run = this.#workerNamed(order.worker);
      if (order.do === "load") run?.load(order.model);
      else run?.unload(order.model);
    }
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
