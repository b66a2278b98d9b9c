import { formatDuration } from "@farmgate/shared";
import { AnswerTimes } from "./answer-times.ts";
import { Deadlines } from "./deadlines.ts";
import { greedy } from "./greedy.ts";
import type { Waiting } from "./model-queue.ts";
import { createModels } from "./model-state.ts";
import type { ModelState } from "./model-state.ts";
import { nextStep } from "./next-step.ts";
import type { Step } from "./next-step.ts";
import type { Policy } from "./policy.ts";
import { deadlinePassed, loadFailed, queueFull, refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import { Room } from "./room.ts";
import { beginTurn, countGrant } from "./turn.ts";
import type { Turn } from "./turn.ts";
import type { Job, SchedulerEffect, SchedulerEvent, SchedulerRules, SchedulerView } from "./types.ts";
import { schedulerView } from "./view.ts";
import { Wake } from "./wake.ts";

/**
 * One machine's queue and the choice of the loaded model: events in, effects out, one owner of all state.
 * Its rules are in place.ts (R1), turn.ts (R2, R3), next-step.ts (R4, R5), failure-budget.ts (R6), model-queue.ts (R7)
 * and room.ts (R9); what they promise is computed in bound.ts.
 *
 * `now` is in milliseconds on a clock that never goes back, the one that `Job.arrivedAt` is on.
 */
export class Scheduler {
  readonly #rules: SchedulerRules;
  readonly #policy: Policy;
  readonly #models: ReadonlyMap<string, ModelState>;
  readonly #waiting = new Map<string, Waiting>();
  readonly #room = new Room();
  readonly #running = new Map<string, { job: Job; model: ModelState; grantedAt: number }>();
  readonly #deadlines = new Deadlines();
  readonly #answers = new AnswerTimes();
  readonly #wake = new Wake();
  #turn: Turn | null = null;
  #swap: { model: string; startedAt: number } | null = null;
  /** The model last proved ready; forgotten after a failed swap. */
  #previous: string | null = null;
  #draining = false;
  #swaps = 0;
  #arrivals = 0;
  #effects: SchedulerEffect[] = [];

  constructor(rules: SchedulerRules, policy: Policy = greedy) {
    this.#rules = rules;
    this.#policy = policy;
    this.#models = createModels(rules);
  }

  /** Takes in what happened at `now` and says what to do, in this order. */
  on(event: SchedulerEvent, now: number): SchedulerEffect[] {
    this.#effects = [];
    const newcomer = this.#take(event, now);
    this.#dropExpired(now);
    let step = this.#grantAll(now);
    if (newcomer !== null && this.#lacksRoom(newcomer)) {
      this.#refuseForRoom(newcomer, now);
      step = this.#grantAll(now);
    }
    if (step.do === "load") this.#load(step.model, step.cause, now);
    this.#noteIdle(step, now);
    this.#askForWake(step);
    return this.#effects;
  }

  view(now: number): SchedulerView {
    return schedulerView({
      now,
      models: [...this.#models.values()],
      draining: this.#draining,
      loaded: this.#turn?.model ?? null,
      swappingTo: this.#swap?.model ?? null,
      swaps: this.#swaps,
    });
  }

  /** A waiting job's place in its model's queue, 1 for the next; null when it does not wait. */
  position(jobId: string, now: number): { position: number; model: string } | null {
    const entry = this.#waiting.get(jobId);
    if (entry === undefined) return null;
    const { model } = entry.job;
    return { position: this.#model(model).queue.position(entry, now), model };
  }

  /** Takes the event in; an arrival that now waits is handed back. */
  #take(event: SchedulerEvent, now: number): Waiting | null {
    switch (event.type) {
      case "arrive":
        return this.#arrive(event.job, now);
      case "leave":
        this.#giveUp(event.id, now);
        break;
      case "done":
        this.#done(event.id, now);
        break;
      case "found":
        if (this.#swap === null && this.#turn === null) this.#ready(event.model, null, now);
        break;
      case "swapped":
        if (this.#swap?.model === event.model) this.#ready(event.model, now - this.#swap.startedAt, now);
        break;
      case "swap_failed":
        if (this.#swap?.model === event.model) this.#swapFailed(event.model, event.reason, now);
        break;
      case "lost":
        if (this.#turn?.model === event.model) this.#lost(this.#turn, now);
        break;
      case "unloaded":
        if (this.#turn?.model === event.model) this.#endTurn(now);
        break;
      case "tick":
        this.#wake.came();
        break;
      case "drain":
      case "resume":
        this.#draining = event.type === "drain";
        break;
    }
    return null;
  }

  #arrive(job: Job, now: number): Waiting | null {
    if (this.#waiting.has(job.id) || this.#running.has(job.id)) throw new Error(`job ${job.id} is here already`);
    const model = this.#models.get(job.model);
    const refused = refusal(job, model, this.#draining, now);
    if (refused !== null) this.#reject(job.id, refused);
    if (model === undefined || refused !== null) return null;
    const arrivedAt = Math.min(job.arrivedAt, now);
    const entry: Waiting = { job, arrivedAt, seq: ++this.#arrivals, priority: job.priority };
    this.#waiting.set(job.id, entry);
    this.#room.add(entry);
    model.place.arrived(now);
    model.queue.add(entry);
    this.#deadlines.add(entry);
    return entry;
  }

  /** Only a job that could not be granted at once needs one of the `maxDepth` places. */
  #lacksRoom(newcomer: Waiting): boolean {
    return this.#waiting.size > this.#rules.maxDepth && this.#waiting.has(newcomer.job.id);
  }

  #refuseForRoom(newcomer: Waiting, now: number): void {
    const entry = this.#room.oneTooMany(newcomer, (model) => this.#model(model).slots);
    const { queue, place, slots } = this.#model(entry.job.model);
    queue.remove(entry);
    this.#forget(entry);
    if (queue.size === 0) place.emptied(now);
    const serveMs = this.#answers.toServe(this.#waiting.size, slots);
    this.#reject(entry.job.id, queueFull(this.#rules.maxDepth, serveMs));
  }

  /** A waiting job's caller is gone or its time is up. A running one ends with `done`, whatever the caller does. */
  #giveUp(id: string, now: number): void {
    const entry = this.#waiting.get(id);
    if (entry === undefined) return;
    const { queue, place } = this.#model(entry.job.model);
    queue.remove(entry);
    this.#forget(entry);
    place.gaveUp(entry.arrivedAt);
    if (queue.size === 0) place.emptied(now);
  }

  #forget(entry: Waiting): void {
    this.#waiting.delete(entry.job.id);
    this.#room.remove(entry);
    this.#deadlines.remove(entry);
  }

  #done(id: string, now: number): void {
    const answer = this.#running.get(id);
    if (answer === undefined) return;
    this.#running.delete(id);
    if (answer.job.kind === "load") return;
    answer.model.running -= 1;
    this.#answers.add(now - answer.grantedAt);
    if (this.#turn?.model === answer.model.name) this.#prove(this.#turn);
  }

  /** `loadMs` null: it was found loaded. */
  #ready(name: string, loadMs: number | null, now: number): void {
    const model = this.#model(name);
    this.#swap = null;
    this.#previous = name;
    model.place.turnBegins();
    this.#turn = beginTurn(name, model.queue.size, loadMs, this.#rules, now);
  }

  /** Rule R6: a failed load is a turn. */
  #swapFailed(name: string, reason: string, now: number): void {
    const { queue, place, failures } = this.#model(name);
    this.#swap = null;
    this.#previous = null;
    failures.failed(now);
    place.turnEnds(now);
    for (const entry of queue.entries()) {
      queue.remove(entry);
      this.#forget(entry);
      this.#reject(entry.job.id, loadFailed(name, reason, failures.refusedFor(now)));
    }
  }

  /** The load was a good one. */
  #prove(turn: Turn): void {
    if (turn.proved) return;
    turn.proved = true;
    this.#model(turn.model).failures.succeeded();
  }

  /**
   * The loaded engine is gone. Before its first answer that counts as a failed load: else an engine that is ready and
   * then gone each time would be loaded for ever.
   */
  #lost(turn: Turn, now: number): void {
    const { place, failures } = this.#model(turn.model);
    if (!turn.proved) failures.failed(now);
    place.turnEnds(now);
    this.#turn = null;
  }

  #endTurn(now: number): void {
    if (this.#turn === null) return;
    this.#prove(this.#turn);
    this.#model(this.#turn.model).place.turnEnds(now);
    this.#turn = null;
  }

  #dropExpired(now: number): void {
    for (let entry = this.#deadlines.passed(now); entry !== undefined; entry = this.#deadlines.passed(now)) {
      this.#giveUp(entry.job.id, now);
      this.#reject(entry.job.id, deadlinePassed(now - entry.arrivedAt));
    }
  }

  #nextStep(now: number): Step {
    const standing = {
      turn: this.#turn,
      swapping: this.#swap !== null,
      running: this.#running.size,
      models: this.#models,
    };
    return nextStep(standing, this.#policy, this.#rules, now);
  }

  /** Grants while that is the next step, and tells the one after. */
  #grantAll(now: number): Step {
    let step = this.#nextStep(now);
    for (; step.do === "grant"; step = this.#nextStep(now)) this.#grant(step.othersWait, now);
    return step;
  }

  #grant(othersWait: boolean, now: number): void {
    const turn = this.#turn;
    const model = turn === null ? undefined : this.#models.get(turn.model);
    const entry = model?.queue.takeLoad() ?? (this.#policy.strict ? model?.queue.takeOldest() : model?.queue.take(now));
    if (turn === null || model === undefined || entry === undefined) throw new Error("a grant of nothing");
    const { job } = entry;
    this.#forget(entry);
    countGrant(turn, othersWait);
    this.#running.set(job.id, { job, model, grantedAt: now });
    if (job.kind === "request") model.running += 1;
    this.#effects.push({ type: "grant", id: job.id, model: model.name, waitedMs: now - entry.arrivedAt });
  }

  #load(name: string, cause: string, now: number): void {
    const { queue, failures } = this.#model(name);
    this.#endTurn(now);
    failures.attempt(now);
    this.#swap = { model: name, startedAt: now };
    this.#swaps += 1;
    const waited = formatDuration(now - (queue.oldest?.arrivedAt ?? now));
    const reason = `${cause}; ${queue.size} waiting for ${name}, the first for ${waited}`;
    this.#effects.push({ type: "swap", model: name, previous: this.#previous, reason });
  }

  #noteIdle(step: Step, now: number): void {
    if (this.#turn !== null) this.#turn.idleSince = step.do === "keep" ? (this.#turn.idleSince ?? now) : null;
  }

  #askForWake(step: Step): void {
    const effect = this.#wake.ask([this.#deadlines.next, step.do === "keep" ? step.until : null]);
    if (effect !== null) this.#effects.push(effect);
  }

  #reject(id: string, { code, message, retryAfterS }: Refusal): void {
    this.#effects.push({ type: "reject", id, code, message, retryAfterS });
  }

  #model(name: string): ModelState {
    const model = this.#models.get(name);
    if (model === undefined) throw new Error(`no model named ${name}`);
    return model;
  }
}
