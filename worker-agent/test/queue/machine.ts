import type { ModelRules, SchedulerEffect, SchedulerRules } from "../../src/queue/types.ts";

export type SwapEffect = Extract<SchedulerEffect, { type: "swap" }>;

/**
 * The machine's side of a drive: what is loaded, what runs on it, and the one operation under way. It throws when the
 * scheduler asks for what must never be.
 */
export class Machine {
  readonly ready = new Set<string>();
  readonly #running = new Map<string, { model: string; kind: "request" | "load" }>();
  /** What is on its way in or out. */
  #operation: { model: string; killed: boolean; dropped: Set<string> } | null = null;
  #rules: ReadonlyMap<string, ModelRules>;
  readonly #budget: number;

  constructor({ models, budget }: SchedulerRules) {
    this.#rules = new Map(models.map((model) => [model.name, model]));
    this.#budget = budget;
  }

  get operating(): string | null {
    return this.#operation?.model ?? null;
  }

  knows(model: string): boolean {
    return this.#rules.has(model);
  }

  /** The list changed: an engine that no longer lists a model has it no longer. */
  list(models: readonly ModelRules[]): void {
    const before = [...this.#rules.keys()];
    this.#rules = new Map(models.map((model) => [model.name, model]));
    for (const model of this.ready) if (!this.#rules.has(model)) this.ready.delete(model);
    for (const model of before) if (!this.#rules.has(model)) this.#operation?.dropped.add(model);
  }

  /** The model's engine dies; its answers are given back, to be ended. Nothing happens to one that is not there. */
  kill(model: string): string[] | null {
    if (this.#operation?.model === model) this.#operation.killed = true;
    else if (!this.ready.delete(model)) return null;
    return this.#idsOf(model);
  }

  runs(id: string): boolean {
    return this.#running.has(id);
  }

  grant(id: string, model: string, kind: "request" | "load"): void {
    assert(this.ready.has(model), `${id} granted while ${model} is not ready`);
    assert(!this.runs(id), `${id} granted twice`);
    this.#running.set(id, { model, kind });
    const requests = [...this.#running.values()].filter((job) => job.model === model && job.kind === "request").length;
    const slots = this.#rules.get(model)?.slots ?? 0;
    assert(kind === "load" || requests <= slots, `${requests} answers at once on ${model}`);
  }

  /** False: it does not run any more. */
  finish(id: string): boolean {
    return this.#running.delete(id);
  }

  beginSwap({ model, victims }: SwapEffect, isWished: boolean): void {
    this.#begin(model, "swap to");
    assert(!this.ready.has(model), `a swap to ${model}, which is loaded`);
    assert(isWished, `a swap to ${model} for nobody`);
    for (const victim of victims) this.#takeOut(victim);
    this.#checkFit(model);
  }

  beginUnload(model: string): void {
    this.#begin(model, "unload of");
    this.#takeOut(model);
  }

  /** `still`: the victims or the model that stand after all. */
  endOperation(comesUp: boolean, still: readonly string[] = []): void {
    const operation = this.#operation;
    assert(operation !== null, "no operation is under way");
    this.#operation = null;
    for (const model of still) {
      const isGone = operation.dropped.has(model) || (operation.killed && operation.model === model);
      if (!isGone) this.ready.add(model);
    }
    if (comesUp && !operation.killed && this.#rules.has(operation.model)) this.ready.add(operation.model);
  }

  #begin(model: string, what: string): void {
    assert(this.#operation === null, `${what} ${model} during the operation on ${this.operating}`);
    assert(this.#rules.has(model), `${what} ${model}, which is not known`);
    assert(this.#idsOf(model).length === 0, `${what} ${model} while answers of it run`);
    this.#operation = { model, killed: false, dropped: new Set() };
  }

  #takeOut(model: string): void {
    const rules = this.#rules.get(model);
    assert(this.ready.delete(model), `${model} must go, and is not loaded`);
    assert(rules?.pinned === false, `${model} must go, and is pinned`);
    assert(this.#idsOf(model).length === 0, `${model} must go under a running answer`);
  }

  #checkFit(model: string): void {
    const all = [...this.ready, model].map((name) => this.#rules.get(name)).filter((rules) => rules !== undefined);
    const weigh = (rules: ModelRules) => (this.#budget === 0 ? Number(!rules.pinned) : (rules.memory ?? this.#budget));
    const sum = all.reduce((total, rules) => total + weigh(rules), 0);
    const limit = this.#budget === 0 ? 1 : this.#budget;
    const pinnedComes = this.#budget === 0 && this.#rules.get(model)?.pinned === true;
    assert(sum <= limit || pinnedComes, `${sum} of ${limit} taken by ${all.map(({ name }) => name).join(" ")}`);
    const script = all.filter(({ unloads }) => !unloads);
    assert(
      script.length <= 1 || this.#rules.get(model)?.unloads === true,
      "two models of a script that knows no unload",
    );
  }

  #idsOf(model: string): string[] {
    return [...this.#running].filter(([, job]) => job.model === model).map(([id]) => id);
  }
}

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}
