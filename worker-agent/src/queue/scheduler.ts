import { formatDuration } from "@farmgate/shared";
import { AnswerTimes } from "./answer-times.ts";
import { greedy, longestWaiting } from "./greedy.ts";
import type { Waiting } from "./model-queue.ts";
import { createModels, waiters } from "./model-state.ts";
import type { ModelState, Waiter } from "./model-state.ts";
import type { Policy } from "./policy.ts";
import { deadlinePassed, loadFailed, queueFull, refusal } from "./refusal.ts";
import type { Refusal } from "./refusal.ts";
import { SortedList } from "./sorted-list.ts";
import { beginTurn, countGrant, isDue, keepUntil, mayClose } from "./turn.ts";
import type { Turn } from "./turn.ts";
import type { Job, SchedulerEffect, SchedulerEvent, SchedulerRules, SchedulerView } from "./types.ts";
import { schedulerView } from "./view.ts";
import { Wake } from "./wake.ts";

/**
 * One machine's queue and the choice of the loaded model: events in, effects out, one owner of all state.
 * Rules R1 to R7 are in place.ts (R1), turn.ts (R2, R3), `#decide` here (R4, R5), failure-budget.ts (R6) and
 * model-queue.ts (R7); what they promise is computed in bound.ts.
 *
 * `now` is in milliseconds on a clock that never goes back, the one that `Job.arrivedAt` is on.
 */
export class Scheduler {
  readonly #rules: SchedulerRules;
  readonly #policy: Policy;
  readonly #models: ReadonlyMap<string, ModelState>;
  readonly #waiting = new Map<string, Waiting>();
  readonly #running = new Map<string, { job: Job; model: ModelState; grantedAt: number }>();
  readonly #deadlines = new SortedList<Waiting>((a, b) => deadlineOf(a) - deadlineOf(b) || a.seq - b.seq);
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
    while (this.#decide(now)) continue;
    if (newcomer !== null) this.#checkRoom(newcomer, now);
    this.#askForWake();
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
        if (this.#swap === null && this.#turn === null) this.#ready(event.model, 0, now);
        break;
      case "swapped":
        if (this.#swap?.model === event.model) this.#ready(event.model, now - this.#swap.startedAt, now);
        break;
      case "swap_failed":
        if (this.#swap?.model === event.model) this.#swapFailed(event.model, event.reason, now);
        break;
      case "lost":
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
    model.place.arrived(now);
    model.queue.add(entry);
    if (job.deadlineAt !== null) this.#deadlines.insert(entry);
    return entry;
  }

  /** A job that could not be granted at once needs one of `maxDepth` places. */
  #checkRoom(newcomer: Waiting, now: number): void {
    const { job } = newcomer;
    if (this.#waiting.size <= this.#rules.maxDepth || !this.#waiting.has(job.id)) return;
    const { queue, place, slots } = this.#model(job.model);
    queue.remove(newcomer);
    this.#forget(newcomer);
    if (queue.size === 0) place.emptied(now);
    this.#reject(job.id, queueFull(this.#rules.maxDepth, this.#answers.toServe(this.#waiting.size, slots)));
  }

  /** A waiting job's caller is gone or its time is up. A running one ends with `done`, whatever the caller does. */
  #giveUp(id: string, now: number): void {
    const entry = this.#waiting.get(id);
    if (entry === undefined) return;
    const { name, queue, place } = this.#model(entry.job.model);
    queue.remove(entry);
    this.#forget(entry);
    if (this.#turn?.model !== name) place.gaveUp(entry.arrivedAt);
    if (queue.size === 0) place.emptied(now);
  }

  #forget(entry: Waiting): void {
    this.#waiting.delete(entry.job.id);
    if (entry.job.deadlineAt !== null) this.#deadlines.remove(entry);
  }

  #done(id: string, now: number): void {
    const answer = this.#running.get(id);
    if (answer === undefined) return;
    this.#running.delete(id);
    if (answer.job.kind === "load") return;
    answer.model.running -= 1;
    this.#answers.add(now - answer.grantedAt);
  }

  #ready(name: string, loadMs: number, now: number): void {
    const model = this.#model(name);
    this.#swap = null;
    this.#previous = name;
    model.failures.succeeded();
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

  #endTurn(now: number): void {
    if (this.#turn !== null) this.#model(this.#turn.model).place.turnEnds(now);
    this.#turn = null;
  }

  #dropExpired(now: number): void {
    for (let entry = this.#deadlines.first; entry !== undefined; entry = this.#deadlines.first) {
      if (deadlineOf(entry) > now) return;
      this.#giveUp(entry.job.id, now);
      this.#reject(entry.job.id, deadlinePassed(now - entry.arrivedAt));
    }
  }

  /**
   * Takes one step and says whether there may be another:
   *
   * 1. a swap is under way, or nobody waits: none;
   * 2. nothing is loaded: load what the policy names, once the answers of a lost engine have ended;
   * 3. the turn may close and another model is due (R4): no grant; when the running answers have ended, load the due
   *    model with the smallest `since`;
   * 4. the policy names the loaded model: grant, a `load` at once, a request when a slot is free;
   * 5. it names another (R5): load it once nothing is running and the turn need not be kept any longer.
   *
   * A model that becomes due needs no tick: while answers run the next `done` looks, and with none running the
   * loaded model has nothing left, so that (5) is at work already.
   */
  #decide(now: number): boolean {
    const turn = this.#turn;
    if (this.#swap !== null || this.#waiting.size === 0) {
      if (turn !== null) turn.idleSince = null;
      return false; // (1)
    }
    const line = waiters(this.#models.values());
    const idle = this.#running.size === 0;
    const next = this.#policy.next({ loaded: turn?.model ?? null, waiting: line });
    if (turn === null) {
      if (idle && next !== null) this.#load(next, line, "nothing is loaded", now); // (2)
      return false;
    }
    const due = this.#due(turn, line, now);
    if (due !== null) {
      if (idle) this.#load(due, line, `${turn.model} has had its turn`, now); // (3)
      return false;
    }
    if (next === turn.model) return this.#grantNext(turn, line, now); // (4)
    if (!idle || next === null) return false;
    turn.idleSince ??= now;
    if (now >= keepUntil(turn, this.#rules)) this.#load(next, line, `${turn.model} has nothing left`, now); // (5)
    return false;
  }

  /** The model that closes the turn, by rules R2 to R4. */
  #due(turn: Turn, line: readonly Waiter[], now: number): string | null {
    if (this.#policy.strict || !mayClose(turn, this.#rules, now)) return null;
    const due = line.filter((model) => model.name !== turn.model && isDue(model.from, turn, this.#rules, now));
    return longestWaiting(due)?.name ?? null;
  }

  #grantNext(turn: Turn, line: readonly Waiter[], now: number): boolean {
    const model = this.#model(turn.model);
    const entry = model.queue.takeLoad() ?? (model.running < model.slots ? this.#takeRequest(model, now) : undefined);
    if (entry === undefined) return false;
    const { job } = entry;
    this.#forget(entry);
    const othersWait = line.some((other) => other.name !== turn.model);
    countGrant(turn, othersWait);
    this.#running.set(job.id, { job, model, grantedAt: now });
    if (job.kind === "request") model.running += 1;
    this.#effects.push({ type: "grant", id: job.id, model: model.name, waitedMs: now - entry.arrivedAt });
    return true;
  }

  #takeRequest(model: ModelState, now: number): Waiting | undefined {
    return this.#policy.strict ? model.queue.takeOldest() : model.queue.take(now);
  }

  #load(name: string, line: readonly Waiter[], cause: string, now: number): void {
    const { queue, failures } = this.#model(name);
    this.#endTurn(now);
    failures.attempt(now);
    this.#swap = { model: name, startedAt: now };
    this.#swaps += 1;
    const waited = formatDuration(now - (queue.oldest?.arrivedAt ?? now));
    const reason = `${cause}; ${queue.size} waiting for ${name}, the first for ${waited}`;
    this.#effects.push({ type: "swap", model: name, previous: this.#previous, reason });
  }

  #askForWake(): void {
    const deadline = this.#deadlines.first?.job.deadlineAt ?? null;
    const turn = this.#turn;
    const kept = turn === null || turn.idleSince === null ? null : keepUntil(turn, this.#rules);
    const effect = this.#wake.ask([deadline, kept]);
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

function deadlineOf(entry: Waiting): number {
  return entry.job.deadlineAt ?? Number.POSITIVE_INFINITY;
}
