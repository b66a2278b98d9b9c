import { assert, Machine, type SwapEffect } from "./machine.ts";
import { steadily } from "@farmgate/wire";
import { Scheduler } from "../../src/queue/scheduler.ts";
import { SortedList } from "../../src/queue/sorted-list.ts";
import type { ModelRules, SchedulerEvent, SchedulerEffect } from "../../src/queue/types.ts";
import type { Arrival, Workload } from "./workload.ts";

/** Milliseconds of virtual time after which somebody who still waits is taken to be forgotten. */
const LONG = 1_000_000_000;
/** Steps after which a drive is taken to go round in circles. */
const MANY = 200_000;

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

/**
 * Plays executor and machine around a real scheduler in virtual time. It throws when the scheduler breaks one of the
 * promises that hold for every workload (machine.ts): no grant to a model that is not ready, never more than `slots`,
 * one operation at a time, none under a running answer or for nobody, never more loaded than fits, no job granted or
 * ended twice, none forgotten in the end.
 */
export class Drive {
  readonly scheduler: Scheduler;
  readonly machine: Machine;
  readonly granted: string[] = [];
  readonly grantedAt = new Map<string, number>();
  readonly swaps: string[] = [];
  readonly swapEffects: SwapEffect[] = [];
  readonly unloads: { model: string; at: number }[] = [];
  readonly failedSwaps: { model: string; at: number }[] = [];
  readonly ended = new Map<string, Ended>();
  readonly waits = new Map<string, number>();
  readonly servedPerLoad: number[] = [];
  now = 0;
  /** How far the scheduler's clock is ahead by its jumps. */
  #ahead = 0;
  readonly #clock = steadily(() => this.now + this.#ahead);
  readonly #work: Workload;
  readonly #steps = new SortedList<Step>((a, b) => a.at - b.at || a.seq - b.seq);
  readonly #arrivals: Map<string, Arrival>;
  readonly #attempts = new Map<string, number>();
  readonly #loadOf = new Map<string, number>();
  #rules: readonly ModelRules[];
  #seq = 0;
  #lastEvent = 0;
  #wake = 0;
  #played = 0;

  constructor(work: Workload) {
    this.#work = work;
    this.#rules = work.rules.models;
    this.scheduler = new Scheduler(work.rules, work.policy, work.costs);
    this.machine = new Machine(work.rules);
    this.#arrivals = new Map(work.arrivals.map((arrival) => [arrival.id, arrival]));
    for (const model of [work.found ?? []].flat()) this.#find(model);
    for (const arrival of work.arrivals) this.at(arrival.at, () => this.#arrive(arrival));
    for (const { id, leaveAt } of work.arrivals) {
      if (leaveAt !== undefined) this.at(leaveAt, () => this.#leave(id));
    }
    for (const lost of work.lostAt ?? []) {
      const { at, model } = typeof lost === "number" ? { at: lost, model: null } : lost;
      this.at(at, () => this.#lose(model ?? [...this.machine.ready][0] ?? ""));
    }
    for (const { at, model } of work.foundAt ?? []) this.at(at, () => this.#find(model));
    for (const { at, model } of work.unloadAt ?? []) this.at(at, () => this.send({ type: "unload", model }));
    for (const { at, models } of work.lists ?? []) this.at(at, () => this.#list(models));
    for (const { at, by } of work.jumps ?? []) this.at(at, () => void (this.#ahead += by));
    if (work.startAt !== undefined) this.at(work.startAt, () => this.send({ type: "tick" }));
    const last = work.arrivals.reduce((latest, { at }) => Math.max(latest, at), 0);
    const pace = work.extraTickMs ?? Number.POSITIVE_INFINITY;
    for (let at = pace; at <= last; at += pace) this.at(at, () => this.send({ type: "tick" }));
    this.#lastEvent = this.#steps.last?.at ?? 0;
  }

  at(at: number, run: () => void): void {
    this.#steps.insert({ at, seq: ++this.#seq, run });
  }

  /** Runs until nothing is left to happen but loads that nobody waits for, or up to `until`. */
  run(until = Number.POSITIVE_INFINITY): this {
    for (let step = this.#steps.first; step !== undefined && step.at <= until; step = this.#steps.first) {
      const over = until === Number.POSITIVE_INFINITY && this.ended.size === this.#arrivals.size;
      if (over && step.at > this.#lastEvent + 60_000) break;
      if (step.at > this.#lastEvent + LONG) break;
      this.#steps.shift();
      assert(++this.#played < MANY, `no end: ${MANY} steps, now at ${this.now}`);
      this.now = Math.max(this.now, step.at);
      step.run();
    }
    if (until === Number.POSITIVE_INFINITY) this.#checkNothingForgotten();
    return this;
  }

  send(event: SchedulerEvent): void {
    for (const effect of this.scheduler.on(event, this.#clock())) this.#carryOut(effect);
  }

  longestWait(): number {
    return [...this.waits.values()].reduce((longest, wait) => Math.max(longest, wait), 0);
  }

  #arrive(arrival: Arrival): void {
    const { id, model, arrivedAt, deadlineAt } = arrival;
    const now = this.#clock();
    const onItsClock = (at: number) => now + at - this.now;
    this.send({
      type: "arrive",
      job: {
        id,
        requestId: id,
        model,
        caller: arrival.caller ?? "",
        priority: arrival.priority ?? "interactive",
        arrivedAt: onItsClock(arrivedAt ?? this.now),
        deadlineAt: typeof deadlineAt === "number" ? onItsClock(deadlineAt) : null,
        kind: arrival.kind ?? "request",
      },
    });
  }

  #leave(id: string): void {
    if (this.ended.has(id)) return;
    this.send({ type: "leave", id });
    if (this.machine.runs(id)) this.at(this.now, () => this.#finish(id, "left"));
    else this.#end(id, { how: "left", at: this.now });
  }

  #lose(model: string): void {
    const running = this.machine.kill(model);
    if (running === null) return;
    this.send({ type: "lost", model });
    for (const id of running) this.at(this.now, () => this.#finish(id, "worker_failed"));
  }

  #find(model: string): void {
    if (this.machine.operating === model || !this.machine.knows(model)) return;
    this.machine.ready.add(model);
    this.send({ type: "found", model });
  }

  #list(models: readonly ModelRules[]): void {
    this.#rules = models;
    this.machine.list(models);
    this.send({ type: "models", models });
  }

  #finish(id: string, how: string): void {
    if (!this.machine.finish(id)) return;
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
        assert(this.#arrivals.has(id), `${id} is nobody`);
        assert(!this.grantedAt.has(id), `${id} rejected after its grant`);
        return this.#end(id, { how: code, at: this.now, message, retryAfterS });
      }
      case "swap":
        return this.#swap(effect);
      case "unload":
        return this.#unload(effect.model);
      case "wake": {
        const mine = ++this.#wake;
        if (effect.at === null) return;
        const now = this.#clock();
        assert(effect.at > now, `a wake at ${effect.at} asked for at ${now}`);
        return this.at(this.now + (effect.at - now) + (this.#work.tickLateMs ?? 0), () => {
          if (mine === this.#wake) this.send({ type: "tick" });
        });
      }
    }
  }

  #grant(id: string, model: string, waitedMs: number): void {
    const arrival = this.#arrivals.get(id);
    assert(arrival?.model === model, `${id} granted to ${model}`);
    assert(!this.grantedAt.has(id) && !this.ended.has(id), `${id} granted twice or after its end`);
    const kind = arrival.kind ?? "request";
    this.machine.grant(id, model, kind);
    this.granted.push(id);
    this.grantedAt.set(id, this.now);
    this.waits.set(id, waitedMs);
    const load = this.#loadOf.get(model);
    if (load !== undefined) this.servedPerLoad[load] = (this.servedPerLoad[load] ?? 0) + 1;
    this.at(this.now + (kind === "load" ? 0 : (arrival.answerMs ?? 100)), () => this.#finish(id, "done"));
  }

  #swap(effect: SwapEffect): void {
    const { model, victims } = effect;
    const rules = this.#rules.find(({ name }) => name === model);
    const waiting = this.scheduler.view(this.#clock()).models.find(({ name }) => name === model)?.queued ?? 0;
    const wished = rules?.pinned === true || rules?.preload === true || rules?.restart === true;
    this.machine.beginSwap(effect, waiting > 0 || wished);
    this.swaps.push(model);
    this.swapEffects.push(effect);
    for (const victim of victims) this.#loadOf.delete(victim);
    const { loadMs, fails } = this.#work;
    const attempt = (this.#attempts.get(model) ?? 0) + 1;
    this.#attempts.set(model, attempt);
    this.at(this.now + (typeof loadMs === "number" ? loadMs : loadMs(model)), () => {
      if (fails?.(model, attempt) === true) {
        const still = this.#work.still?.(victims) ?? [];
        this.machine.endOperation(false, still);
        this.failedSwaps.push({ model, at: this.now });
        const lost = victims.filter((victim) => !still.includes(victim));
        return this.send({ type: "swap_failed", model, reason: "the script ended with 1", lost });
      }
      this.machine.endOperation(true);
      this.#loadOf.set(model, this.servedPerLoad.push(0) - 1);
      this.send({ type: "swapped", model });
    });
  }

  #unload(model: string): void {
    this.machine.beginUnload(model);
    const attempt = this.unloads.push({ model, at: this.now });
    this.at(this.now + (this.#work.unloadMs ?? 10), () => {
      const failure = this.#work.unloadFails?.(model, attempt) ?? null;
      this.machine.endOperation(false, failure === "still" ? [model] : []);
      if (failure === null) return this.send({ type: "unloaded", model });
      this.send({ type: "unload_failed", model, still: failure === "still", reason: "the script ended with 1" });
    });
  }

  #checkNothingForgotten(): void {
    const forgotten = [...this.#arrivals.keys()].filter((id) => !this.ended.has(id));
    assert(forgotten.length === 0, `forgotten: ${forgotten.slice(0, 5).join(" ")}`);
    const view = this.scheduler.view(this.#clock());
    assert(view.depth === 0 && view.inflight === 0, "the scheduler holds on to something");
    assert(this.machine.operating === view.swappingTo || view.swappingTo === null, "a swap that does not run");
  }
}
