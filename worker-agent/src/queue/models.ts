import { busyWith, createModel, type ModelState } from "./model-state.ts";
import type { ModelRules, SchedulerRules } from "./types.ts";

/**
 * Every model, and by sets those that an event has to look at: an engine may list hundreds, of which few are waited
 * for or loaded. `changed` must be called after a queue, a turn or the jobs under way of a model changed.
 */
export class Models {
  #byName = new Map<string, ModelState>();
  readonly #waiting = new Set<ModelState>();
  readonly #present = new Set<ModelState>();
  /** Those that are loaded without being asked for: pinned, or at start, or after their engine died. */
  #wished: readonly ModelState[] = [];
  #pinned: readonly ModelRules[] = [];

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
    this.#pinned = list.filter((model) => model.pinned);
    return missing;
  }

  changed(model: ModelState): void {
    toggle(this.#waiting, model, model.queue.size > 0);
    toggle(this.#present, model, model.turn !== null || busyWith(model) > 0);
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

  /** Those that somebody waits for. */
  get waiting(): ReadonlySet<ModelState> {
    return this.#waiting;
  }

  /** Those in memory: loaded, or with answers of a lost engine that have not ended yet. */
  get present(): ReadonlySet<ModelState> {
    return this.#present;
  }

  get wished(): readonly ModelState[] {
    return this.#wished;
  }

  get pinned(): readonly ModelRules[] {
    return this.#pinned;
  }
}

function toggle(set: Set<ModelState>, model: ModelState, member: boolean): void {
  if (member) set.add(model);
  else set.delete(model);
}
