import { neverFits } from "./fit.ts";
import { byArrival, type Waiting } from "./model-queue.ts";
import { busyWith, createModel, type ModelState } from "./model-state.ts";
import { SortedList } from "./sorted-list.ts";
import type { ModelRules, SchedulerRules } from "./types.ts";

/**
 * Every model, and by sets those that an event has to look at: an engine may list hundreds, of which few are waited
 * for or loaded. `changed` must be called after a queue, a turn or the jobs under way of a model changed.
 */
export class Models {
  #byName = new Map<string, ModelState>();
  readonly #waiting = new SortedList<ModelState>((a, b) => byArrival(a.head as Waiting, b.head as Waiting));
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
    const oldest = model.queue.oldest ?? null;
    if (model.head !== oldest) {
      if (model.head !== null) this.#waiting.remove(model);
      model.head = oldest;
      if (oldest !== null) this.#waiting.insert(model);
    }
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

  /** Those that somebody waits for, in the order in which each one's oldest job arrived. */
  get waiting(): Iterable<ModelState> {
    return this.#waiting;
  }

  /** Somebody waits for a model that is not loaded. */
  get loadIsWaitedFor(): boolean {
    for (const { turn } of this.#waiting) if (turn === null) return true;
    return false;
  }

  /** Those in memory: loaded, or with answers of a lost engine that have not ended yet. */
  get present(): ReadonlySet<ModelState> {
    return this.#present;
  }

  get wished(): readonly ModelState[] {
    return this.#wished;
  }
}
