import { Executor, type Switching } from "../../src/executor.ts";
import { Scheduler } from "../../src/index.ts";
import type { Job } from "../../src/queue/types.ts";
import { modelRules } from "../queue/workload.ts";
import { HandClock } from "./hand-clock.ts";

export const STEPS = [
  "arrive",
  "arrive",
  "arrive",
  "leave",
  "finish",
  "lost",
  "swap ends",
  "swap fails",
  "time",
] as const;
type Step = (typeof STEPS)[number];

export const job = (id: string, model = "a", kind: Job["kind"] = "request"): Job => ({
  id,
  requestId: id,
  model,
  caller: "",
  priority: "interactive",
  arrivedAt: 0,
  deadlineAt: null,
  kind,
});

/** Resolves when what was resolved before has been taken in. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Three models, callers who come and go, and a swap that ends when the test says so. */
export class ExecutorWorld {
  readonly clock = new HandClock();
  readonly running = new Map<string, string>();
  readonly waiting = new Set<string>();
  /** How often each job that is over has ended. */
  readonly ends = new Map<string, number>();
  /** What was seen that must never be. */
  readonly broken: string[] = [];
  readonly executor: Executor;
  #swap: { model: string; end: (result: { ok: true } | { ok: false; reason: string }) => void } | null = null;
  #count = 0;
  #loaded: string | null = null;

  constructor() {
    const rules = {
      maxBatch: 3,
      maxWait: 500,
      minResident: 0,
      maxDepth: 8,
      failureLimit: 2,
      failureReset: 1_000,
      budget: 0,
    };
    const models = ["a", "b", "c"].map((name) => modelRules(name, { slots: 2 }));
    const switching: Switching = {
      swap: async ({ model, victims }) => {
        const end = await this.#start(model);
        return end.ok ? end : { ...end, lost: victims };
      },
      unload: async () => ({ ok: true }),
    };
    this.executor = new Executor(new Scheduler({ ...rules, models }), switching, this.clock);
  }

  async take(what: Step, pick: number): Promise<void> {
    const [runs, waits] = [[...this.running.keys()], [...this.waiting]];
    if (what === "arrive") this.#arrive(["a", "b", "c"][pick % 3] ?? "a");
    else if (what === "leave") this.#leave(waits[pick % Math.max(1, waits.length)]);
    else if (what === "finish") this.#finish(runs[pick % Math.max(1, runs.length)]);
    else if (what === "lost" && this.#loaded !== null) this.executor.tell({ type: "lost", model: this.#loaded });
    else if (what === "swap ends") await this.#endSwap(true);
    else if (what === "swap fails") await this.#endSwap(false);
    else this.clock.move(pick * 20);
    const { inflight, depth } = this.executor.view();
    this.#check(inflight === this.running.size, `${inflight} in flight, ${this.running.size} running`);
    this.#check(depth === this.waiting.size, `depth ${depth}, ${this.waiting.size} waiting`);
  }

  async finishAll(): Promise<void> {
    for (let round = 0; round < 1_000 && this.running.size + this.waiting.size > 0; round += 1) {
      for (const id of this.running.keys()) this.#finish(id);
      await this.#endSwap(true);
      this.clock.move(100);
    }
    await this.#endSwap(true);
  }

  #arrive(model: string): void {
    this.#count += 1;
    const id = String(this.#count);
    this.waiting.add(id);
    this.executor.submit(
      { ...job(id, model), arrivedAt: this.clock.now() },
      {
        granted: () => {
          this.#check(this.#loaded === model, `${id} for ${model} was granted while ${this.#loaded} is loaded`);
          this.#check(this.#swap === null, `${id} was granted during a swap`);
          this.waiting.delete(id);
          this.running.set(id, model);
        },
        rejected: () => {
          this.waiting.delete(id);
          this.#ended(id);
        },
        cut: () => {},
      },
    );
  }

  #leave(id: string | undefined): void {
    if (id === undefined) return;
    this.executor.leave(id);
    this.waiting.delete(id);
    this.#ended(id);
  }

  #finish(id: string | undefined): void {
    if (id === undefined) return;
    this.running.delete(id);
    this.#ended(id);
    this.executor.finished(id);
  }

  #check(holds: boolean, what: string): void {
    if (!holds) this.broken.push(what);
  }

  #ended(id: string): void {
    this.ends.set(id, (this.ends.get(id) ?? 0) + 1);
  }

  #start(model: string): Promise<{ ok: true } | { ok: false; reason: string }> {
    this.#check(this.#swap === null, `two swaps at once, the second to ${model}`);
    this.#check(this.running.size === 0, `a swap to ${model} under ${this.running.size} running answers`);
    return new Promise((end) => {
      this.#loaded = null;
      this.#swap = { model, end };
    });
  }

  async #endSwap(ok: boolean): Promise<void> {
    await settled();
    const swap = this.#swap;
    if (swap === null) return;
    this.#swap = null;
    this.#loaded = ok ? swap.model : null;
    swap.end(ok ? { ok: true } : { ok: false, reason: "exit code 1" });
    await settled();
  }
}
