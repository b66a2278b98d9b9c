import { type Clock, FarmError } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { Executor } from "../executor.ts";
import type { ServedModel } from "../served-model.ts";
import type { SwapResult } from "../swap/swap-runner.ts";

export type RunUnload = (model: ServedModel, signal: AbortSignal) => Promise<SwapResult>;

/** What an operator orders for one model: to be loaded or unloaded. */
export class ModelOrders {
  readonly #executor: Executor;
  /** null: the swap script cannot unload. */
  readonly #runUnload: RunUnload | null;
  readonly #clock: Clock;
  readonly #log: Log;
  #count = 0;

  constructor(executor: Executor, runUnload: RunUnload | null, clock: Clock, log: Log) {
    this.#executor = executor;
    this.#runUnload = runUnload;
    this.#clock = clock;
    this.#log = log;
  }

  /** Queues a job without an answer. Throws when the scheduler refuses it at once. */
  load(model: ServedModel, requestId: string): void {
    this.#count += 1;
    const id = `load-${this.#count}`;
    let refusal: FarmError | null = null;
    const job = {
      id,
      model: model.name,
      caller: "",
      priority: "interactive",
      arrivedAt: this.#clock.now(),
      deadlineAt: null,
      kind: "load",
    } as const;
    this.#executor.submit(job, {
      granted: () => this.#executor.finished(id),
      cut: () => {},
      rejected: (error) => {
        refusal = error;
        this.#log.warn({ request_id: requestId, model: model.name, error: error.message }, "a load by order failed");
      },
    });
    if (refusal !== null) throw refusal;
  }

  /** Unloads an idle model by the script. A model that is not loaded is left as it is. Throws what prevents it. */
  async unload(model: ServedModel, requestId: string): Promise<void> {
    const runUnload = this.#runUnload;
    if (runUnload === null) {
      throw new FarmError(
        "not_supported",
        "The swap script is not said to know how to unload: set `swap.unload: true` when it does.",
      );
    }
    const view = this.#executor.view();
    if (view.swappingTo === model.name) throw new FarmError("conflict", `${model.name} is being loaded right now.`);
    if (view.loaded !== model.name) return;
    if (view.inflight > 0) throw new FarmError("conflict", `${model.name} is answering requests right now.`);
    // From here on the scheduler takes nothing to be loaded; a swap that it starts waits for the script's end.
    const done = this.#executor.runAlone(async (signal) => {
      const result = await runUnload(model, signal);
      if (!result.ok) throw new FarmError("load_failed", `${model.name} was not unloaded: ${result.reason}`);
    });
    this.#executor.tell({ type: "unloaded", model: model.name });
    await done;
    this.#log.info({ request_id: requestId, model: model.name }, "unloaded by order");
  }
}
