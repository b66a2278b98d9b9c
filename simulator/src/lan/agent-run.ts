import { adapterFor, type PollResult } from "@farmgate/engines";
import {
  catalogOf,
  Learned,
  POLICIES,
  Promises,
  promisedWait,
  replacesBy,
  rulesOf,
  Scheduler,
  type SchedulerEffect,
  type SchedulerEvent,
  type SchedulerRules,
  type ServedModel,
  type Terms,
  termsOf,
} from "@farmgate/worker-agent";
import { asPolled } from "./as-polled.ts";
import type { AgentWorker } from "./farm.ts";
import { HostedModels } from "./hosted-models.ts";
import { noticedLoadMs } from "./noticed-load.ts";
import { Seats } from "./seats.ts";
import { WorkClock } from "./work-clock.ts";
import type { AskedTokens, Caller, LanEvent, LanHost, WorkerFigures, WorkerRun } from "./worker-run.ts";

type SwapEffect = Extract<SchedulerEffect, { type: "swap" }>;

const ORDERED = "load-";
/** Tokens of a prompt from which on an agent takes its speed for known. */
const LEAST_PROMPT = 32;

/** An agent in virtual time: its real scheduler, what it learns and its catalogue; models and engines are made up. */
export class AgentRun implements WorkerRun {
  readonly #place: number;
  readonly #worker: AgentWorker;
  readonly #host: LanHost;
  readonly #rules: SchedulerRules;
  readonly #scheduler: Scheduler;
  readonly #learned = new Learned();
  readonly #promises = new Promises();
  readonly #terms: Terms | null;
  readonly #replaces: (model: ServedModel, victim: ServedModel) => boolean;
  readonly #seats = new Map<string, Seats>();
  readonly #hosted: HostedModels;
  readonly #clock = new WorkClock();
  readonly #jobs = new Map<number, { model: string; tokens: AskedTokens; grantedAt: number }>();
  readonly #loaded = new Set<string>();
  readonly #ordered = new Set<string>();
  readonly #events: SchedulerEvent[] = [];
  #looping = false;
  #wakeMark = 0;
  /** The load under way. */
  #swap: { from: string | null; ms: number } | null = null;
  /** The last catalogue, while nothing has happened since. */
  #catalog: PollResult | null = null;

  /** `longestAnswerMs`: of any request of the replay, so that promises stand on what really comes. */
  constructor(place: number, worker: AgentWorker, host: LanHost, longestAnswerMs: number) {
    const { agent, models } = worker;
    this.#place = place;
    this.#worker = worker;
    this.#host = host;
    this.#hosted = new HostedModels(models);
    this.#rules = rulesOf(agent, this.#hosted.served);
    this.#replaces = replacesBy(agent);
    const costs = { reloadMs: (model: string) => this.#learned.loadMs(model, null, host.now) };
    this.#scheduler = new Scheduler(this.#rules, POLICIES[agent.queue.policy], costs);
    const loadMs = (name: string) => this.#loadMs(name);
    this.#terms = agent.queue.policy === "greedy" ? termsOf(this.#rules, { loadMs, answerMs: longestAnswerMs }) : null;
    for (const { served, speed } of models) this.#seats.set(served.name, new Seats(speed));
  }

  get loadsOf(): ReadonlyMap<string, number> {
    return this.#clock.loadsOf;
  }

  /** Tells what is loaded at the start; nothing is told before. */
  begin(): void {
    for (const { name } of this.#hosted.loadedAtStart(this.#replaces)) {
      this.#loaded.add(name);
      this.#learned.found(name, this.#host.now);
      this.#tell({ type: "found", model: name });
    }
    this.#tell({ type: "tick" });
  }

  submit(request: number, asked: string, tokens: AskedTokens, { name: caller, isBatch }: Caller): void {
    const { now } = this.#host;
    const id = String(request);
    const model = this.#hosted.named(asked);
    const priority = isBatch ? "batch" : "interactive";
    this.#jobs.set(request, { model, tokens, grantedAt: Number.NaN });
    this.#tell({ type: "arrive", job: { ...PLAIN, id, requestId: id, model, caller, priority, arrivedAt: now } });
    if (!isBatch) this.#notePromise(request, model);
  }

  leave(request: number): void {
    const job = this.#jobs.get(request);
    if (job === undefined) return;
    this.#jobs.delete(request);
    this.#tell({ type: "leave", id: String(request) });
    if (!Number.isNaN(job.grantedAt)) this.#end(request, job, false);
  }

  poll(): PollResult {
    if (this.#catalog !== null) return this.#catalog;
    const { now } = this.#host;
    const view = this.#scheduler.view(now);
    const moment = {
      now,
      models: this.#hosted.served,
      rules: this.#rules,
      view,
      waiting: [],
      learned: this.#learned,
      promises: this.#promises,
      promised: this.#terms !== null,
      longestAnswerMs: this.#worker.agent.queue.longestAnswer,
    };
    const catalog = catalogOf({ name: this.#worker.agent.name, version: "simulated" }, moment);
    const result = asPolled("agent", adapterFor("agent").parse(catalog, null));
    // A waiting request grows older by itself.
    if (view.depth === 0) this.#catalog = result;
    return result;
  }

  load(model: string): void {
    const { now } = this.#host;
    if (this.#ordered.has(model) || !this.#hosted.has(model)) return;
    this.#ordered.add(model);
    const id = `${ORDERED}${model}`;
    this.#tell({ type: "arrive", job: { ...PLAIN, id, requestId: id, model, arrivedAt: now, kind: "load" } });
  }

  unload(model: string): void {
    this.#tell({ type: "unload", model });
  }

  take(event: LanEvent): void {
    switch (event.do) {
      case "answered": {
        const job = this.#jobs.get(event.request);
        if (job === undefined) return;
        this.#jobs.delete(event.request);
        this.#end(event.request, job, true);
        return;
      }
      case "wake":
        if (event.mark === this.#wakeMark) this.#tell({ type: "tick" });
        return;
      case "loaded":
        return this.#swapped(event.model);
      case "unloaded":
        this.#learned.unloaded(event.model, this.#host.now);
        this.#tell({ type: "unloaded", model: event.model });
        return;
      // The others are not its own.
      case "arrive":
      case "give-up":
      case "poll":
      case "look":
      case "timer":
        return;
    }
  }

  figures(until: number): WorkerFigures {
    return this.#clock.figures(this.#worker.config.name, until);
  }

  /** As the agent's own loop: what happens while effects are carried out waits its turn. */
  #tell(event: SchedulerEvent): void {
    this.#catalog = null;
    this.#events.push(event);
    if (this.#looping) return;
    this.#looping = true;
    for (let next = this.#events.shift(); next !== undefined; next = this.#events.shift()) {
      for (const effect of this.#scheduler.on(next, this.#host.now)) this.#carryOut(effect);
    }
    this.#looping = false;
  }

  #carryOut(effect: SchedulerEffect): void {
    const { now } = this.#host;
    switch (effect.type) {
      case "grant":
        return this.#grant(effect.id, effect.waitedMs);
      case "reject":
        if (effect.id.startsWith(ORDERED)) {
          this.#ordered.delete(effect.id.slice(ORDERED.length));
        } else if (this.#jobs.delete(Number(effect.id))) {
          this.#host.turnedAway(Number(effect.id));
        }
        return;
      case "swap":
        return this.#beginSwap(effect);
      case "unload":
        this.#loaded.delete(effect.model);
        this.#host.at(now, { do: "unloaded", worker: this.#place, model: effect.model });
        return;
      case "wake":
        this.#wakeMark += 1;
        if (effect.at === null) return;
        this.#host.at(effect.at, { do: "wake", worker: this.#place, mark: this.#wakeMark });
        return;
    }
  }

  #grant(id: string, waitedMs: number): void {
    if (id.startsWith(ORDERED)) {
      this.#ordered.delete(id.slice(ORDERED.length));
      this.#events.push({ type: "done", id });
      return;
    }
    const request = Number(id);
    const job = this.#jobs.get(request);
    if (job === undefined) {
      this.#events.push({ type: "done", id });
      return;
    }
    job.grantedAt = this.#host.now;
    this.#host.granted(request, waitedMs);
    if (this.#seats.get(job.model)?.take(request) === true) this.#begin(request, job.model, job.tokens);
  }

  #begin(request: number, model: string, tokens: AskedTokens): void {
    const { now } = this.#host;
    const { firstMs, ms } = this.#seats.get(model)?.timesOf(tokens) ?? { firstMs: 0, ms: 0 };
    this.#clock.answerBegins(now);
    this.#host.started(request, now + firstMs);
    this.#host.at(now + ms, { do: "answered", worker: this.#place, request });
  }

  /** The answer is whole, or broken off. */
  #end(request: number, job: { model: string; tokens: AskedTokens; grantedAt: number }, isWhole: boolean): void {
    const { now } = this.#host;
    const seats = this.#seats.get(job.model);
    const { wasSeated, next } = seats?.leave(request) ?? { wasSeated: false, next: null };
    if (wasSeated) this.#clock.answerEnds(now, isWhole);
    const speed = seats?.speed;
    const known = speed !== undefined && speed.promptTokensPerSecond > 0 && job.tokens.prompt >= LEAST_PROMPT;
    this.#learned.answered(job.model, {
      ms: now - job.grantedAt,
      ok: isWhole,
      figures: {
        promptTokensPerSecond: known ? speed.promptTokensPerSecond : null,
        tokensPerSecond: speed !== undefined && speed.tokensPerSecond > 0 ? speed.tokensPerSecond : null,
      },
    });
    const seated = next === null ? undefined : this.#jobs.get(next);
    if (next !== null && seated !== undefined) this.#begin(next, seated.model, seated.tokens);
    if (isWhole) this.#host.served(request);
    this.#tell({ type: "done", id: String(request) });
  }

  #beginSwap({ model, victims }: SwapEffect): void {
    const { now } = this.#host;
    for (const victim of victims) this.#loaded.delete(victim);
    const ms = this.#loadMs(model);
    this.#swap = { from: victims[0] ?? null, ms };
    this.#clock.loads(model, ms);
    for (const victim of victims) this.#learned.unloaded(victim, now);
    this.#host.at(now + ms, { do: "loaded", worker: this.#place, model, mark: 0 });
  }

  #swapped(model: string): void {
    const { from, ms } = this.#swap ?? { from: null, ms: 0 };
    this.#swap = null;
    this.#loaded.add(model);
    this.#learned.loaded({ from, to: model, ms, wasReady: false }, this.#host.now);
    this.#tell({ type: "swapped", model });
  }

  #loadMs(name: string): number {
    const model = this.#hosted.get(name);
    return model === undefined ? 0 : noticedLoadMs(model, this.#worker);
  }

  /** What a request that has to wait is promised, by its place. */
  #notePromise(request: number, model: string): void {
    const rules = this.#terms?.models.get(model);
    const job = this.#jobs.get(request);
    if (this.#terms === null || rules === undefined || job === undefined || !Number.isNaN(job.grantedAt)) return;
    const at = this.#scheduler.position(String(request), this.#host.now);
    if (at === null) return;
    const standing = { place: at.position, loaded: this.#loaded.has(model) };
    this.#host.promised(request, promisedWait(rules, standing, this.#terms));
  }
}

const PLAIN = { caller: "", priority: "interactive", deadlineAt: null, kind: "request" } as const;
