import { neverFits } from "./fit.ts";
import { type Waiter, waiterOf } from "./line.ts";
import { byArrival } from "./model-queue.ts";
import { busyWith, createModel, type ModelState } from "./model-state.ts";
import { SortedList } from "./sorted-list.ts";
import type { ModelRules, SchedulerRules } from "./types.ts";

/**
 * Every model, and by sets those that an event has to look at: an engine may list hundreds, of which few are waited
 * for or loaded. `changed` must be called after a queue, a turn, a place or the jobs under way of a model changed.
 */
export class Models {
  #byName = new Map<string, ModelState>();
  readonly #waiters = new Map<ModelState, Waiter>();
  readonly #line = new SortedList<Waiter>((a, b) => byArrival(a.oldest, b.oldest));
  readonly #present = new Set<ModelState>();
  /** Those that are loaded without being asked for: pinned, or at start, or after their engine died. */
  #wished: readonly ModelState[] = [];

  /**
   * Takes these as the models from now on; given back are those that are gone. They are still known by `of` while they
   * are busy or `inOperation`, until the next call.
   */
  replace(
    list: readonly ModelRules[],
    rules: SchedulerRules,
    inOperation: (model: ModelState) => boolean = () => false,
  ): ModelState[] {
    const before = this.#byName;
    this.#byName = new Map();
    for (const model of list) {
      const state = before.get(model.name) ?? createModel(model, rules);
      before.delete(model.name);
      state.rules = model;
      state.gone = false;
      this.#byName.set(model.name, state);
    }
    const missing = [...before.values()].filter((state) => !state.gone);
    for (const state of before.values()) {
      state.gone = true;
      if (busyWith(state) > 0 || inOperation(state)) this.#byName.set(state.name, state);
    }
    this.#wished = this.all.filter(({ rules }) => rules.pinned || rules.preload || rules.restart);
    const pinned = list.filter((model) => model.pinned);
    for (const state of this.#byName.values()) state.neverFits = neverFits(state.rules, pinned, rules.budget);
    return missing;
  }

  changed(model: ModelState): void {
    this.#placeInLine(model);
    if (model.turn !== null || busyWith(model) > 0) this.#present.add(model);
    else this.#present.delete(model);
  }

  find(name: string): ModelState | undefined {
    const model = this.#byName.get(name);
    return model?.gone === true ? undefined : model;
  }

  /** The model of a job that is here. */
  of(name: string): ModelState {
    const model = this.#byName.get(name);
    if (model === undefined) throw new Error(`no model named ${name}`);
    return model;
  }

  get all(): ModelState[] {
    return [...this.#byName.values()].filter((model) => !model.gone);
  }

  /** Those that somebody waits for, in the order in which each one's oldest job arrived; a copy. */
  get line(): Waiter[] {
    return this.#line.head(this.#line.size);
  }

  /** Somebody waits for a model that is not loaded. */
  get loadIsWaitedFor(): boolean {
    for (const { model } of this.#line) if (model.turn === null) return true;
    return false;
  }

  /** Those in memory: loaded, or with answers of a lost engine that have not ended yet. */
  get present(): ReadonlySet<ModelState> {
    return this.#present;
  }

  get wished(): readonly ModelState[] {
    return this.#wished;
  }

  #placeInLine(model: ModelState): void {
    const { oldest } = model.queue;
    const waiter = this.#waiters.get(model);
    if (waiter !== undefined) this.#line.remove(waiter);
    if (oldest === undefined) {
      this.#waiters.delete(model);
      return;
    }
    const placed = waiterOf(model, oldest);
    this.#waiters.set(model, placed);
    this.#line.insert(placed);
  }
}
