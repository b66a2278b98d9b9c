import { formatDuration } from "@farmgate/shared";
import { busyWith, isIdle, type ModelState } from "./model-state.ts";
import type { Models } from "./models.ts";
import type { Step } from "./next-step.ts";
import { type Admission, hasBegun, type Operation } from "./operation.ts";
import { failedTooOften, loadFailed, type Refusal } from "./refusal.ts";
import { beginTurn } from "./turn.ts";
import type { SchedulerEffect, SchedulerEvent, SchedulerRules } from "./types.ts";

type Event = Extract<
  SchedulerEvent,
  { type: "found" | "swapped" | "swap_failed" | "lost" | "unloaded" | "unload_failed" }
>;
type Change = Extract<Step, { do: "admit" | "swap" | "call off" | "unload" | "forget" }>;

/**
 * Which models are loaded, and the one operation that is under way. It does what was decided and takes in what came
 * of it; who waits is told by `rejectAll`.
 */
export class Residents {
  readonly #models: Models;
  readonly #rejectAll: (model: ModelState, why: Refusal) => void;
  #operation: Operation | null = null;
  /** The model last proved ready; forgotten after a failed swap. */
  #previous: string | null = null;
  #uses = 0;
  #swaps = 0;
  #evictions = 0;

  constructor(models: Models, rejectAll: (model: ModelState, why: Refusal) => void) {
    this.#models = models;
    this.#rejectAll = rejectAll;
  }

  get operation(): Operation | null {
    return this.#operation;
  }

  view() {
    const operation = this.#operation;
    const begun = hasBegun(operation) ? operation : null;
    return {
      swappingTo: begun?.kind === "admission" ? begun.model.name : null,
      unloading: begun?.kind === "unload" ? begun.model.name : null,
      swaps: this.#swaps,
      evictions: this.#evictions,
    };
  }

  /** Whether the operation under way has to do with the model. */
  holds(model: ModelState): boolean {
    const operation = this.#operation;
    return operation?.model === model || (operation?.kind === "admission" && operation.victims.has(model));
  }

  /** Another event is taken in. */
  eventBegins(): void {
    if (this.#operation?.kind === "admission") this.#operation.fresh = false;
  }

  used(model: ModelState): void {
    model.usedSeq = ++this.#uses;
  }

  /** The load was a good one. */
  prove(model: ModelState): void {
    if (model.turn === null || model.turn.proved) return;
    model.turn.proved = true;
    model.failures.succeeded();
    model.retry.succeeded();
  }

  /** Notes since when each loaded model has nothing left while somebody waits for one that is not loaded. */
  noteIdle(strict: boolean, now: number): void {
    const othersWait = this.#models.loadIsWaitedFor;
    for (const model of this.#models.present) {
      if (model.turn === null) continue;
      const idle = othersWait && (strict ? busyWith(model) === 0 : isIdle(model));
      model.turn.idleSince = idle ? (model.turn.idleSince ?? now) : null;
    }
    for (const model of this.#models.wished) {
      model.missingSince = model.turn === null ? (model.missingSince ?? now) : null;
    }
  }

  take(event: Event, rules: SchedulerRules, now: number): void {
    const operation = this.#operation;
    const begun = hasBegun(operation) ? operation : null;
    switch (event.type) {
      case "found":
        return this.#found(event.model, rules, now);
      case "swapped":
        if (begun?.kind === "admission" && begun.model.name === event.model) this.#swapped(begun, rules, now);
        return;
      case "swap_failed":
        if (begun?.kind === "admission" && begun.model.name === event.model) {
          this.#swapFailed(begun, event.reason, event.lost, now);
        }
        return;
      case "lost":
        return this.#lost(event.model, now);
      case "unloaded":
      case "unload_failed":
        return this.#unloadEnded(event, now);
    }
  }

  /** An operator's order, where it can be followed now. */
  order(name: string, now: number): SchedulerEffect[] {
    const model = this.#models.find(name);
    if (this.#operation !== null || model === undefined || model.turn === null || !isIdle(model)) return [];
    if (model.rules.pinned || !model.rules.unloads) return [];
    return this.carryOut({ do: "unload", model, reason: "by order" }, now);
  }

  /** The model is no longer among those that are served. */
  drop(model: ModelState, now: number): void {
    if (model.turn !== null) this.#leave(model, now);
    this.#notGivenBack(model);
  }

  carryOut(step: Change, now: number): SchedulerEffect[] {
    switch (step.do) {
      case "admit": {
        const { model, wished, cause, victims } = step;
        const start = { beganAt: null, ended: new Map(), fresh: true, lost: false };
        this.#operation = { kind: "admission", model, victims: new Set(victims), wished, cause, ...start };
        return [];
      }
      case "call off":
        this.#operation = null;
        return [];
      case "forget":
        step.model.preload = false;
        return [];
      case "unload": {
        const { model, reason } = step;
        this.#operation = { kind: "unload", model, turn: model.turn };
        model.bringBack = false;
        this.#leave(model, now);
        return [{ type: "unload", model: model.name, reason }];
      }
      case "swap":
        return this.#operation?.kind === "admission" ? [this.#begin(this.#operation, now)] : [];
    }
  }

  #begin(admission: Admission, now: number): SchedulerEffect {
    const { model, victims, cause } = admission;
    for (const victim of victims) {
      if (victim.turn === null) continue;
      admission.ended.set(victim, victim.turn);
      this.#leave(victim, now);
    }
    model.failures.attempt(now);
    model.preload = false;
    admission.beganAt = now;
    this.#swaps += 1;
    this.#evictions += admission.ended.size;
    const { size, oldest } = model.queue;
    const waited = formatDuration(now - (oldest?.arrivedAt ?? now));
    const reason = size === 0 ? cause : `${cause}; ${size} waiting for ${model.name}, the first for ${waited}`;
    const names = Array.from(admission.ended.keys(), ({ name }) => name);
    return { type: "swap", model: model.name, previous: this.#previous, victims: names, reason };
  }

  #found(name: string, rules: SchedulerRules, now: number): void {
    const model = this.#models.find(name);
    if (model === undefined || model.turn !== null) return;
    // What is on its way is settled by the end of that.
    if (hasBegun(this.#operation) && this.#operation?.model === model) return;
    this.#ready(model, null, rules, now);
  }

  #swapped(admission: Admission, rules: SchedulerRules, now: number): void {
    const { model, beganAt, lost } = admission;
    if (lost) return this.#swapFailed(admission, "its engine died as soon as it was ready", [], now, true);
    this.#operation = null;
    if (!model.gone) this.#ready(model, now - (beganAt ?? now), rules, now);
  }

  /** `loadMs` null: it was found loaded. */
  #ready(model: ModelState, loadMs: number | null, rules: SchedulerRules, now: number): void {
    this.#previous = model.name;
    model.place.turnBegins();
    model.turn = beginTurn(model.queue.size, loadMs, rules, now);
    model.quietSince = now;
    model.preload = false;
    model.bringBack = false;
    this.used(model);
    this.#models.changed(model);
  }

  /** Rule R6: a failed load is a turn. `allVictims`: those that were to go are gone. */
  #swapFailed(admission: Admission, reason: string, lost: readonly string[], now: number, allVictims = false): void {
    const { model, ended } = admission;
    this.#operation = null;
    this.#previous = null;
    for (const [victim, turn] of ended) {
      if (allVictims || lost.includes(victim.name) || victim.gone || victim.turn !== null) continue;
      victim.turn = turn;
      victim.place.turnBegins();
      this.#models.changed(victim);
    }
    for (const other of this.#models.present) {
      const standing = other === model || other.turn === null || ended.has(other);
      if (!standing && lost.includes(other.name)) this.#leave(other, now);
    }
    this.#failed(model, now);
    model.place.turnEnds(now);
    this.#rejectAll(model, loadFailed(model.name, reason, model.failures.refusedFor(now)));
  }

  #unloadEnded(event: Extract<Event, { type: "unloaded" | "unload_failed" }>, now: number): void {
    const operation = this.#operation;
    if (operation?.kind !== "unload" || operation.model.name !== event.model) {
      const model = this.#models.find(event.model);
      // By its engine's own will: nobody's fault.
      if (event.type === "unloaded" && model !== undefined && model.turn !== null) this.drop(model, now);
      return;
    }
    const { model, turn } = operation;
    this.#operation = null;
    if (event.type === "unloaded" || !event.still || turn === null || model.gone) return;
    model.turn = turn;
    model.quietSince = now;
    model.place.turnBegins();
    this.#models.changed(model);
  }

  /**
   * A loaded engine is gone. Before its first answer that counts as a failed load: else an engine that is ready and
   * then gone each time would be loaded for ever.
   */
  #lost(name: string, now: number): void {
    const operation = this.#operation;
    if (hasBegun(operation) && operation?.model.name === name) {
      if (operation.kind === "unload") operation.turn = null;
      else operation.lost = true;
      return;
    }
    const model = this.#models.find(name);
    if (model === undefined) return;
    this.#notGivenBack(model);
    if (model.turn === null) return;
    const { proved } = model.turn;
    model.turn.proved = true;
    this.#leave(model, now);
    if (proved) model.retry.failed(now);
    else this.#failed(model, now);
    model.bringBack = model.rules.restart;
    const refused = failedTooOften(model, now);
    if (refused !== null) this.#rejectAll(model, refused);
  }

  #notGivenBack(victim: ModelState): void {
    if (this.#operation?.kind === "admission") this.#operation.ended.delete(victim);
  }

  #failed(model: ModelState, now: number): void {
    model.failures.failed(now);
    model.retry.failed(now);
  }

  /** Its turn is over. */
  #leave(model: ModelState, now: number): void {
    this.prove(model);
    model.place.turnEnds(now);
    model.turn = null;
    this.#models.changed(model);
  }
}
