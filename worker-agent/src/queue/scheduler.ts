import { AnswerTimes } from "./answer-times.ts";
import { Backlog } from "./backlog.ts";
import { greedy } from "./greedy.ts";
import type { Waiting } from "./model-queue.ts";
import type { ModelState } from "./model-state.ts";
import { Models } from "./models.ts";
import { nextStep, type Step } from "./next-step.ts";
import type { Policy } from "./policy.ts";
import { deadlinePassed, inVain, noLongerServed, queueFull, type Refusal, refusal } from "./refusal.ts";
import { Residents } from "./residents.ts";
import { countGrant } from "./turn.ts";
import type {
  Costs,
  Job,
  ModelRules,
  SchedulerEffect,
  SchedulerEvent,
  SchedulerRules,
  SchedulerView,
  WaitingJob,
} from "./types.ts";
import { schedulerView } from "./view.ts";
import { Wake } from "./wake.ts";

const NOTHING_LEARNED: Costs = { reloadMs: () => null };

/**
 * One machine's queue and the choice of the loaded models: events in, effects out, one owner of all state.
 * Its rules are in place.ts (R1), turn.ts (R2, R3), next-step.ts (R4, R5), failure-budget.ts (R6), model-queue.ts (R7),
 * room-times.ts, admission.ts, fit.ts and evict.ts (R8) and room.ts (R9); what they promise is computed in bound.ts.
 *
 * `now` is in milliseconds on a clock that never goes back, the one that `Job.arrivedAt` is on.
 */
export class Scheduler {
  #rules: SchedulerRules;
  readonly #policy: Policy;
  readonly #costs: Costs;
  readonly #models = new Models();
  readonly #backlog = new Backlog(this.#models);
  readonly #residents: Residents;
  readonly #running = new Map<string, { job: Job; model: ModelState; grantedAt: number }>();
  readonly #answers = new AnswerTimes();
  readonly #wake = new Wake();
  /** Jobs that found no room so far. */
  #turnedAway = 0;
  #draining = false;
  /** All that was loaded at start has been told. */
  #started = false;
  #effects: SchedulerEffect[] = [];

  constructor(rules: SchedulerRules, policy: Policy = greedy, costs: Costs = NOTHING_LEARNED) {
    this.#rules = rules;
    this.#policy = policy;
    this.#costs = costs;
    this.#models.replace(rules.models, rules);
    this.#residents = new Residents(this.#models, (model, refused) => this.#rejectAll(model, refused));
  }

  /** Takes in what happened at `now` and says what to do, in this order. */
  on(event: SchedulerEvent, now: number): SchedulerEffect[] {
    this.#effects = [];
    this.#residents.eventBegins();
    const newcomer = this.#take(event, now);
    if (event.type !== "found" && event.type !== "models") this.#started = true;
    for (let late = this.#backlog.passed(now); late !== undefined; late = this.#backlog.passed(now)) {
      this.#giveUp(late, now);
      this.#reject(late.job.id, deadlinePassed(now - late.arrivedAt));
    }
    const until = this.#settle(newcomer, now);
    const effect = this.#wake.ask([this.#backlog.nextDeadline, until]);
    if (effect !== null) this.#effects.push(effect);
    return this.#effects;
  }

  view(now: number): SchedulerView {
    return schedulerView({
      now,
      models: this.#models.all,
      draining: this.#draining,
      memoryBudget: this.#rules.budget,
      inflight: [...this.#models.present].reduce((sum, { running }) => sum + running, 0),
      ...this.#residents.view(),
    });
  }

  /** A waiting job's place in its model's queue, 1 for the next; null when it does not wait. */
  position(jobId: string, now: number): { position: number; model: string } | null {
    const entry = this.#backlog.find(jobId);
    if (entry === undefined) return null;
    const { model } = entry.job;
    return { position: this.#models.of(model).queue.position(entry, now), model };
  }

  /** At most `limit` waiting jobs, in the order in which each model's queue takes them. */
  waiting(now: number, limit: number): readonly WaitingJob[] {
    return this.#backlog.list(now, limit);
  }

  /** Takes the event in; an arrival that now waits is handed back. */
  #take(event: SchedulerEvent, now: number): Waiting | null {
    switch (event.type) {
      case "arrive":
        return this.#arrive(event.job, now);
      case "leave": {
        const entry = this.#backlog.find(event.id);
        if (entry !== undefined) this.#giveUp(entry, now);
        break;
      }
      case "done":
        this.#done(event.id, now);
        break;
      case "models":
        this.#replaceModels(event.models, now);
        break;
      case "tick":
        this.#wake.came();
        break;
      case "drain":
      case "resume":
        this.#draining = event.type === "drain";
        break;
      case "unload":
        this.#effects.push(...this.#residents.order(event.model, now));
        break;
      case "found":
      case "swapped":
      case "swap_failed":
      case "lost":
      case "unloaded":
      case "unload_failed":
        this.#residents.take(event, this.#rules, now);
        break;
    }
    return null;
  }

  #arrive(job: Job, now: number): Waiting | null {
    if (this.#backlog.find(job.id) !== undefined || this.#running.has(job.id)) {
      throw new Error(`job ${job.id} is here already`);
    }
    const model = this.#models.find(job.model);
    const refused = refusal(job, model, this.#draining, now);
    if (refused !== null) this.#reject(job.id, refused);
    return model === undefined || refused !== null ? null : this.#backlog.add(job, model, now);
  }

  /** Only a job that could not be granted at once needs one of the `maxDepth` places. */
  #lacksRoom(newcomer: Waiting): boolean {
    return this.#backlog.size > this.#rules.maxDepth && this.#backlog.find(newcomer.job.id) === newcomer;
  }

  #refuseForRoom(newcomer: Waiting, now: number): void {
    const entry = this.#backlog.oneTooMany(newcomer);
    this.#backlog.remove(entry, now);
    const serveMs = this.#answers.toServe(this.#backlog.size, this.#models.of(entry.job.model).rules.slots);
    this.#reject(entry.job.id, queueFull(this.#rules.maxDepth, serveMs, this.#turnedAway));
    this.#turnedAway += 1;
  }

  /** A waiting job's caller is gone or its time is up. A running one ends with `done`, whatever the caller does. */
  #giveUp(entry: Waiting, now: number): void {
    this.#models.of(entry.job.model).place.gaveUp(entry.arrivedAt);
    this.#backlog.remove(entry, now);
  }

  #done(id: string, now: number): void {
    const answer = this.#running.get(id);
    if (answer === undefined) return;
    this.#running.delete(id);
    const { job, model, grantedAt } = answer;
    model.quietSince = now;
    if (job.kind === "load") {
      model.ordered -= 1;
    } else {
      model.running -= 1;
      this.#answers.add(now - grantedAt);
      this.#residents.prove(model);
    }
    this.#models.changed(model);
  }

  #replaceModels(models: readonly ModelRules[], now: number): void {
    this.#rules = { ...this.#rules, models };
    const gone = this.#models.replace(models, this.#rules, (model) => this.#residents.holds(model));
    for (const model of gone) {
      this.#rejectAll(model, noLongerServed(model.name));
      this.#residents.drop(model, now);
    }
  }

  /** Does what is to be done now; answers with the time at which something is to be done without an event. */
  #settle(newcomer: Waiting | null, now: number): number | null {
    let unplaced = newcomer;
    for (;;) {
      this.#residents.noteIdle(this.#policy.strict, now);
      const step = this.#nextStep(now);
      if (step.do !== "grant" && unplaced !== null && this.#lacksRoom(unplaced)) {
        this.#refuseForRoom(unplaced, now);
        unplaced = null;
        continue;
      }
      if (step.do === "wait") return step.until;
      this.#carryOut(step, now);
    }
  }

  #nextStep(now: number): Step {
    const standing = {
      models: this.#models,
      present: this.#models.present,
      operation: this.#residents.operation,
      policy: this.#policy,
      rules: this.#rules,
      costs: this.#costs,
      wishing: this.#started && !this.#draining,
    };
    return nextStep(standing, now);
  }

  #carryOut(step: Exclude<Step, { do: "wait" }>, now: number): void {
    switch (step.do) {
      case "grant":
        return this.#grant(step.model, step.othersWait, now);
      case "refuse":
        this.#rejectAll(step.model, inVain(step.model.name, step.reason));
        return step.model.place.emptied(now);
      case "admit":
      case "swap":
      case "call off":
      case "unload":
      case "forget":
        this.#effects.push(...this.#residents.carryOut(step, now));
    }
  }

  #grant(model: ModelState, othersWait: boolean, now: number): void {
    const entry = this.#backlog.take(model, this.#policy.strict, now);
    if (model.turn === null || entry === undefined) throw new Error("a grant of nothing");
    const { job, arrivedAt } = entry;
    countGrant(model.turn, othersWait);
    this.#residents.used(model);
    this.#running.set(job.id, { job, model, grantedAt: now });
    if (job.kind === "request") model.running += 1;
    else model.ordered += 1;
    this.#models.changed(model);
    this.#effects.push({ type: "grant", id: job.id, model: model.name, waitedMs: now - arrivedAt });
  }

  #rejectAll(model: ModelState, why: Refusal): void {
    for (const entry of this.#backlog.removeAll(model)) this.#reject(entry.job.id, why);
  }

  #reject(id: string, why: Refusal): void {
    this.#effects.push({ type: "reject", id, ...why });
  }
}
