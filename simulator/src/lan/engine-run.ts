import { adapterFor, type PollResult } from "@farmgate/engines";
import { modelProps, routerList, routerProps, singleList } from "../decide/catalogue.ts";
import { type Effect, EngineState } from "../decide/engine-state.ts";
import { answerTimes } from "./answer-times.ts";
import { asPolled } from "./as-polled.ts";
import type { EngineWorker } from "./farm.ts";
import { WorkClock } from "./work-clock.ts";
import type { AskedTokens, LanEvent, LanHost, WorkerFigures, WorkerRun } from "./worker-run.ts";

/** A bare engine in virtual time: the simulated engine's own rules for loads and slots. */
export class EngineRun implements WorkerRun {
  readonly #place: number;
  readonly #worker: EngineWorker;
  readonly #host: LanHost;
  readonly #state: EngineState;
  readonly #clock = new WorkClock();
  readonly #jobs = new Map<string, { model: string; tokens: AskedTokens; running: boolean }>();
  /** Loads that were stopped end without news. */
  readonly #loads = new Map<string, number>();
  #marks = 0;
  #catalog: PollResult | null = null;

  constructor(place: number, worker: EngineWorker, host: LanHost) {
    this.#place = place;
    this.#worker = worker;
    this.#host = host;
    this.#state = new EngineState(worker.options);
    const [first] = worker.options.models;
    if (!worker.options.single || first === undefined) return;
    this.#state.load(first.name);
    this.#state.loadEnded(first.name, true, 0);
  }

  get loadsOf(): ReadonlyMap<string, number> {
    return this.#clock.loadsOf;
  }

  submit(request: number, asked: string, tokens: AskedTokens): void {
    const { options } = this.#worker;
    const model = options.single ? options.models[0] : options.models.find(({ name }) => name === asked);
    if (model === undefined) return this.#host.turnedAway(request);
    const id = String(request);
    this.#jobs.set(id, { model: model.name, tokens, running: false });
    this.#carryOut(this.#state.arrive({ id, model: model.name, prompt: "" }, this.#host.now));
  }

  leave(request: number): void {
    const id = String(request);
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    this.#jobs.delete(id);
    if (job.running) this.#clock.answerEnds(this.#host.now, false);
    this.#carryOut(this.#state.leave(id, "", this.#host.now));
  }

  poll(): PollResult {
    this.#catalog ??= this.#look();
    return this.#catalog;
  }

  load(model: string): void {
    const effects = this.#state.load(model);
    if (Array.isArray(effects)) this.#carryOut(effects);
  }

  unload(model: string): void {
    const effects = this.#state.unload(model);
    if (Array.isArray(effects)) this.#carryOut(effects);
  }

  take(event: LanEvent): void {
    if (event.do === "loaded") {
      if (this.#loads.get(event.model) !== event.mark) return;
      this.#loads.delete(event.model);
      this.#carryOut(this.#state.loadEnded(event.model, true, this.#host.now));
    } else if (event.do === "answered") {
      const id = String(event.request);
      if (!this.#jobs.delete(id)) return;
      this.#clock.answerEnds(this.#host.now, true);
      const effects = this.#state.leave(id, "", this.#host.now);
      this.#host.served(event.request);
      this.#carryOut(effects);
    }
  }

  figures(until: number): WorkerFigures {
    return this.#clock.figures(this.#worker.config.name, until);
  }

  #look(): PollResult {
    const { options } = this.#worker;
    const [first] = options.models;
    const adapter = adapterFor("llama-server");
    const entries = options.models.map((model) => ({ model, ...this.#state.phase(model.name) }));
    const report =
      options.single && first !== undefined
        ? adapter.parse(singleList(first, 0, options.apis), modelProps(first, options.slots))
        : adapter.parse(routerList(entries, 0, options.apis), routerProps(options));
    return asPolled("llama-server", report);
  }

  #carryOut(effects: readonly Effect[]): void {
    this.#catalog = null;
    const { now } = this.#host;
    for (const effect of effects) {
      switch (effect.kind) {
        case "load": {
          const ms = this.#worker.speeds.get(effect.model)?.loadMs ?? 0;
          this.#marks += 1;
          this.#loads.set(effect.model, this.#marks);
          this.#clock.loads(effect.model, ms);
          this.#host.at(now + ms, { do: "loaded", worker: this.#place, model: effect.model, mark: this.#marks });
          break;
        }
        case "stop-load":
          this.#loads.delete(effect.model);
          break;
        case "unloaded":
          break;
        case "start":
          this.#start(effect.job);
          break;
        case "refuse":
          if (this.#jobs.delete(effect.job)) this.#host.turnedAway(Number(effect.job));
          break;
      }
    }
  }

  #start(id: string): void {
    const job = this.#jobs.get(id);
    const speed = job === undefined ? undefined : this.#worker.speeds.get(job.model);
    if (job === undefined || speed === undefined) return;
    const { now } = this.#host;
    const { firstMs, ms } = answerTimes(speed, job.tokens);
    job.running = true;
    this.#clock.answerBegins(now);
    this.#host.started(Number(id), now + firstMs);
    this.#host.at(now + ms, { do: "answered", worker: this.#place, request: Number(id) });
  }
}
