import { type Clock, FarmError } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { Executor } from "../executor.ts";
import type { ServedModel } from "../served-model.ts";

/** What an operator orders for one model: to be loaded or unloaded. */
export class ModelOrders {
  readonly #executor: Executor;
  /** Whether there is a way to take the model out of memory. */
  readonly #unloads: (model: ServedModel) => boolean;
  readonly #clock: Clock;
  readonly #log: Log;
  /** Models that are ordered to be loaded and wait for it: one job says it all, however often it is asked for. */
  readonly #ordered = new Set<string>();
  #count = 0;

  constructor(executor: Executor, unloads: (model: ServedModel) => boolean, clock: Clock, log: Log) {
    this.#executor = executor;
    this.#unloads = unloads;
    this.#clock = clock;
    this.#log = log;
  }

  /** Queues a job without an answer, unless there is one for the model. Throws when the scheduler refuses it at once. */
  load(model: ServedModel, requestId: string): void {
    const { name } = model;
    if (this.#ordered.has(name)) return;
    this.#ordered.add(name);
    this.#count += 1;
    const id = `load-${this.#count}`;
    let refusal: FarmError | null = null;
    const job = {
      id,
      requestId,
      model: name,
      caller: "",
      priority: "interactive",
      arrivedAt: this.#clock.now(),
      deadlineAt: null,
      kind: "load",
    } as const;
    this.#executor.submit(job, {
      granted: () => {
        this.#ordered.delete(name);
        this.#executor.finished(id);
      },
      cut: () => {},
      rejected: (error) => {
        this.#ordered.delete(name);
        refusal = error;
        this.#log.warn({ request_id: requestId, model: name, error: error.message }, "a load by order failed");
      },
    });
    if (refusal !== null) throw refusal;
  }

  /** Unloads an idle model. One that is not loaded is left as it is. Throws what prevents it. */
  async unload(model: ServedModel, requestId: string): Promise<void> {
    const { name } = model;
    if (!this.#unloads(model)) {
      const why =
        model.heldBy.kind === "engine"
          ? `The engine at ${model.heldBy.url} has no call that unloads ${name}.`
          : "The swap script is not said to know how to unload: set `swap.unload: true` when it does.";
      throw new FarmError("not_supported", why);
    }
    const view = this.#executor.view();
    const state = view.models.find((entry) => entry.name === name);
    if (view.swappingTo === name) throw new FarmError("conflict", `${name} is being loaded right now.`);
    if (view.unloading !== name && !view.loaded.includes(name)) return;
    if (state?.pinned === true) throw new FarmError("conflict", `${name} is pinned: it stays loaded.`);
    if (state !== undefined && state.running > 0) {
      throw new FarmError("conflict", `${name} is answering requests right now.`);
    }
    const end = await this.#executor.unload(name);
    if (end === null) {
      const other = view.swappingTo ?? view.unloading;
      const why = other === null ? "requests wait for it" : `${other} is on its way`;
      throw new FarmError("conflict", `${name} cannot be unloaded right now: ${why}.`);
    }
    if (!end.ok) throw new FarmError("load_failed", `${name} was not unloaded: ${end.reason}`);
    this.#log.info({ request_id: requestId, model: name }, "unloaded by order");
  }
}
