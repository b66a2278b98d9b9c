import { Scheduler } from "../../src/queue/scheduler.ts";
import type { Policy } from "../../src/queue/policy.ts";
import { SortedList } from "../../src/queue/sorted-list.ts";
import type { Job, ModelRules, SchedulerEffect, SchedulerEvent, SchedulerRules } from "../../src/queue/types.ts";

/** A job of a workload, with what the world does to it. Times in virtual milliseconds. */
export interface Arrival extends Partial<Omit<Job, "model" | "id">> {
  at: number;
  id: string;
  model: string;
  /** How long its answer runs; 100 unless said. */
  answerMs?: number;
  /** When its caller leaves, wherever the job is then. */
  leaveAt?: number;
}

export interface Workload {
  rules: SchedulerRules;
  policy?: Policy;
  /** The model found loaded at time 0. */
  found?: string;
  loadMs: number | ((model: string) => number);
  arrivals: readonly Arrival[];
  /** Whether the load of this model fails; `attempt` counts from 1 per model. */
  fails?: (model: string, attempt: number) => boolean;
  /** When the engine that is loaded then dies. */
  lostAt?: readonly number[];
  /** How late each tick is. */
  tickLateMs?: number;
  /** Ticks that nobody asked for, each so many milliseconds up to the last arrival. */
  extraTickMs?: number;
}

export interface Ended {
  /** `done`, `left`, or the code of the error. */
  how: string;
  at: number;
  retryAfterS?: number | null;
  message?: string;
}

interface Step {
  at: number;
  seq: number;
  run: () => void;
}

/** Default rules with these models; slots as given. */
export function rulesFor(models: Record<string, number>, over: Partial<SchedulerRules> = {}): SchedulerRules {
  return {
    maxBatch: 64,
    maxWait: 60_000,
    minResident: 0,
    maxDepth: 1_000_000,
    failureLimit: 3,
    failureReset: 300_000,
    budget: 0,
    models: Object.entries(models).map(([name, slots]) => modelRules(name, { slots })),
    ...over,
  };
}

export function modelRules(name: string, over: Partial<ModelRules> = {}): ModelRules {
  const plain = { memory: null, pinned: false, ttl: 0, preload: false, restart: false, unloads: true };
  return { name, slots: 1, ...plain, ...over };
}

/** Requests that arrive all at once, numbered as in "1 chat, 2 code". */
export function atOnce(at: number, models: readonly string[], answerMs = 100): Arrival[] {
  return models.map((model, index) => ({ at, id: String(index + 1), model, answerMs }));
}

/**
 * Plays executor and machine around a real scheduler in virtual time. It throws when the scheduler breaks one of the
 * promises that hold for every workload: no grant to a model that is not ready, never more than `slots`, one swap at
 * a time, none under a running answer and none for nobody, no job granted or ended twice, none forgotten in the end.
 */
export class Drive {
  readonly scheduler: Scheduler;
  readonly granted: string[] = [];
  readonly grantedAt = new Map<string, number>();
  readonly swaps: string[] = [];
  readonly swapEffects: Extract<SchedulerEffect, { type: "swap" }>[] = [];
  readonly failedSwaps: { model: string; at: number }[] = [];
  readonly ended = new Map<string, Ended>();
  readonly waits = new Map<string, number>();
  readonly servedPerLoad: number[] = [];
  now = 0;
  readonly #work: Workload;
  readonly #steps = new SortedList<Step>((a, b) => a.at - b.at || a.seq - b.seq);
  readonly #arrivals: Map<string, Arrival>;
  readonly #running = new Map<string, { model: string; kind: Job["kind"] }>();
  readonly #attempts = new Map<string, number>();
  #seq = 0;
  #ready: string | null = null;
  #swapping: string | null = null;
  #wake = 0;

  constructor(work: Workload) {
    this.#work = work;
    this.scheduler = new Scheduler(work.rules, work.policy);
    this.#arrivals = new Map(work.arrivals.map((arrival) => [arrival.id, arrival]));
    if (work.found !== undefined) {
      this.#ready = work.found;
      this.send({ type: "found", model: work.found });
    }
    for (const arrival of work.arrivals) this.at(arrival.at, () => this.#arrive(arrival));
    for (const { id, leaveAt } of work.arrivals) {
      if (leaveAt !== undefined) this.at(leaveAt, () => this.#leave(id));
    }
    for (const at of work.lostAt ?? []) this.at(at, () => this.#lose());
    const last = work.arrivals.reduce((latest, { at }) => Math.max(latest, at), 0);
    const pace = work.extraTickMs ?? Number.POSITIVE_INFINITY;
    for (let at = pace; at <= last; at += pace) this.at(at, () => this.send({ type: "tick" }));
  }

  at(at: number, run: () => void): void {
    this.#steps.insert({ at, seq: ++this.#seq, run });
  }

  /** Runs until nothing is left to happen, or up to `until`. */
  run(until = Number.POSITIVE_INFINITY): this {
    for (let step = this.#steps.first; step !== undefined && step.at <= until; step = this.#steps.first) {
      this.#steps.shift();
      this.now = Math.max(this.now, step.at);
      step.run();
    }
    if (until === Number.POSITIVE_INFINITY) this.#checkNothingForgotten();
    return this;
  }

  send(event: SchedulerEvent): void {
    for (const effect of this.scheduler.on(event, this.now)) this.#carryOut(effect);
  }

  longestWait(): number {
    return [...this.waits.values()].reduce((longest, wait) => Math.max(longest, wait), 0);
  }

  #arrive(arrival: Arrival): void {
    const { id, model } = arrival;
    this.send({
      type: "arrive",
      job: {
        id,
        requestId: id,
        model,
        caller: arrival.caller ?? "",
        priority: arrival.priority ?? "interactive",
        arrivedAt: arrival.arrivedAt ?? this.now,
        deadlineAt: arrival.deadlineAt ?? null,
        kind: arrival.kind ?? "request",
      },
    });
  }

  #leave(id: string): void {
    if (this.ended.has(id)) return;
    this.send({ type: "leave", id });
    if (this.#running.has(id)) this.at(this.now, () => this.#finish(id, "left"));
    else this.#end(id, { how: "left", at: this.now });
  }

  #lose(): void {
    const model = this.#ready;
    if (model === null) return;
    this.#ready = null;
    this.send({ type: "lost", model });
    for (const id of this.#running.keys()) this.at(this.now, () => this.#finish(id, "worker_failed"));
  }

  #finish(id: string, how: string): void {
    if (!this.#running.delete(id)) return;
    this.#end(id, { how, at: this.now });
    this.send({ type: "done", id });
  }

  #end(id: string, end: Ended): void {
    assert(!this.ended.has(id), `${id} ended twice`);
    this.ended.set(id, end);
  }

  #carryOut(effect: SchedulerEffect): void {
    switch (effect.type) {
      case "grant":
        return this.#grant(effect.id, effect.model, effect.waitedMs);
      case "reject": {
        const { id, code, message, retryAfterS } = effect;
        assert(!this.grantedAt.has(id), `${id} rejected after its grant`);
        return this.#end(id, { how: code, at: this.now, message, retryAfterS });
      }
      case "swap":
        return this.#swap(effect);
      case "unload":
        throw new Error(`${effect.model} is unloaded`);
      case "wake": {
        const mine = ++this.#wake;
        if (effect.at === null) return;
        assert(effect.at > this.now, `a wake at ${effect.at} asked for at ${this.now}`);
        return this.at(effect.at + (this.#work.tickLateMs ?? 0), () => {
          if (mine === this.#wake) this.send({ type: "tick" });
        });
      }
    }
  }

  #grant(id: string, model: string, waitedMs: number): void {
    const arrival = this.#arrivals.get(id);
    assert(arrival?.model === model, `${id} granted to ${model}`);
    assert(this.#ready === model && this.#swapping === null, `${id} granted while ${model} is not ready`);
    assert(!this.grantedAt.has(id) && !this.ended.has(id), `${id} granted twice or after its end`);
    const kind = arrival.kind ?? "request";
    this.granted.push(id);
    this.grantedAt.set(id, this.now);
    this.waits.set(id, waitedMs);
    this.#running.set(id, { model, kind });
    const served = this.servedPerLoad.length - 1;
    if (served >= 0) this.servedPerLoad[served] = (this.servedPerLoad[served] ?? 0) + 1;
    if (kind === "load") return this.at(this.now, () => this.#finish(id, "done"));
    const slots = this.#work.rules.models.find(({ name }) => name === model)?.slots ?? 0;
    const requests = [...this.#running.values()].filter((job) => job.kind === "request").length;
    assert(requests <= slots, `${requests} answers at once on ${model}`);
    this.at(this.now + (arrival.answerMs ?? 100), () => this.#finish(id, "done"));
  }

  #swap(effect: Extract<SchedulerEffect, { type: "swap" }>): void {
    const { model } = effect;
    assert(this.#swapping === null, `a swap to ${model} during the one to ${this.#swapping}`);
    assert(this.#running.size === 0, `a swap to ${model} under a running answer`);
    const waiting = this.scheduler.view(this.now).models.find(({ name }) => name === model)?.queued ?? 0;
    assert(waiting > 0, `a swap to ${model} for nobody`);
    this.#swapping = model;
    this.#ready = null;
    this.swaps.push(model);
    this.swapEffects.push(effect);
    const { loadMs, fails } = this.#work;
    const attempt = (this.#attempts.get(model) ?? 0) + 1;
    this.#attempts.set(model, attempt);
    this.at(this.now + (typeof loadMs === "number" ? loadMs : loadMs(model)), () => {
      this.#swapping = null;
      if (fails?.(model, attempt) === true) {
        this.failedSwaps.push({ model, at: this.now });
        return this.send({ type: "swap_failed", model, reason: "the script ended with 1", lost: effect.victims });
      }
      this.#ready = model;
      this.servedPerLoad.push(0);
      this.send({ type: "swapped", model });
    });
  }

  #checkNothingForgotten(): void {
    const forgotten = [...this.#arrivals.keys()].filter((id) => !this.ended.has(id));
    assert(forgotten.length === 0, `forgotten: ${forgotten.slice(0, 5).join(" ")}`);
    const view = this.scheduler.view(this.now);
    assert(view.depth === 0 && view.inflight === 0 && view.swappingTo === null, "the scheduler holds on to something");
  }
}

function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
