import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { dropSeries, PROCESS_GAUGES } from "@farmgate/wire";
import type { SchedulerView } from "./queue/types.ts";

const SWAP_SECONDS = [0.1, 0.5, 1, 2, 5, 10, 20, 40, 60, 120, 180, 300, 600];

/** Every metric of the agent (contract section 6). A model label is a configured name or `other`. */
export class AgentMetrics {
  readonly #registry = new Registry();
  readonly #swaps = new Counter({
    name: "farmgate_agent_swaps_total",
    help: "Model swaps, by the model loaded before (none: not known) and after, and how they ended",
    labelNames: ["from", "to", "result"],
    registers: [this.#registry],
  });
  readonly #swapSeconds = new Histogram({
    name: "farmgate_agent_swap_seconds",
    help: "From the start of the swap script until the model answered as ready",
    labelNames: ["to"],
    buckets: SWAP_SECONDS,
    registers: [this.#registry],
  });
  readonly #swapping = new Counter({
    name: "farmgate_agent_swapping_seconds_total",
    help: "Time spent on swaps, failed ones too",
    labelNames: ["to", "result"],
    registers: [this.#registry],
  });
  readonly #waited = new Counter({
    name: "farmgate_agent_wait_seconds_total",
    help: "Time that requests waited for their model, those that left while waiting too",
    labelNames: ["model"],
    registers: [this.#registry],
  });
  readonly #served = new Counter({
    name: "farmgate_agent_served_total",
    help: "Requests by the status that their caller was told; 499: the caller left",
    labelNames: ["model", "status"],
    registers: [this.#registry],
  });

  readonly #depth = new Gauge({
    name: "farmgate_agent_queue_depth",
    help: "Requests that wait for their model",
    labelNames: ["model"],
    registers: [this.#registry],
  });
  readonly #oldestWait = new Gauge({
    name: "farmgate_agent_oldest_wait_seconds",
    help: "How long the oldest waiting request has waited",
    registers: [this.#registry],
  });
  readonly #waitBound = new Gauge({
    name: "farmgate_agent_wait_bound_seconds",
    help: "The longest that a request which came now would wait; no line: nothing is promised, or it would be refused",
    labelNames: ["model"],
    registers: [this.#registry],
  });
  readonly #inflight = new Gauge({
    name: "farmgate_agent_inflight",
    help: "Requests that an engine is answering",
    labelNames: ["model"],
    registers: [this.#registry],
  });
  readonly #memory = new Gauge({
    name: "farmgate_agent_memory_bytes",
    help: "What models may take together (budget; 0: one swappable model at a time) and what those loaded take (used)",
    labelNames: ["kind"],
    registers: [this.#registry],
  });
  readonly #evictions = new Counter({
    name: "farmgate_agent_evictions_total",
    help: "Models taken out of memory to make room for another",
    labelNames: ["model"],
    registers: [this.#registry],
  });
  readonly #fileBytes = new Counter({
    name: "farmgate_agent_file_bytes_total",
    help: "Bytes of models' files that other agents fetched from here (out), and that came from them (in)",
    labelNames: ["direction"],
    registers: [this.#registry],
  });
  readonly contentType: string = this.#registry.contentType;

  constructor() {
    for (const { name, help, read } of PROCESS_GAUGES) {
      const gauge: Gauge = new Gauge({ name, help, registers: [this.#registry], collect: () => gauge.set(read()) });
    }
  }

  /**
   * Prometheus text; what the gauges show is read from the scheduler's view, and from the promised waits by model, in
   * milliseconds. A model that an engine does not list any more has no line any more.
   */
  async text(view: SchedulerView, waitBounds: ReadonlyMap<string, number> = new Map()): Promise<string> {
    const models = new Set([...view.models.map(({ name }) => name), "none", "other"]);
    const isServed = (model: string) => models.has(model);
    await dropSeries(this.#registry, { model: isServed, from: isServed, to: isServed });
    this.#depth.reset();
    this.#inflight.reset();
    for (const model of view.models) {
      this.#depth.set({ model: model.name }, model.queued);
      this.#inflight.set({ model: model.name }, model.running);
    }
    this.#waitBound.reset();
    for (const [model, ms] of waitBounds) this.#waitBound.set({ model }, ms / 1_000);
    this.#oldestWait.set(view.oldestWaitMs / 1_000);
    this.#memory.set({ kind: "budget" }, view.memoryBudget);
    this.#memory.set({ kind: "used" }, view.memoryUsed);
    return this.#registry.metrics();
  }

  swapped(from: string | null, to: string, result: "ok" | "failed", ms: number): void {
    this.#swaps.inc({ from: from ?? "none", to, result });
    this.#swapping.inc({ to, result }, ms / 1_000);
    if (result === "ok") this.#swapSeconds.observe({ to }, ms / 1_000);
  }

  evicted(model: string): void {
    this.#evictions.inc({ model });
  }

  fileBytes(direction: "in" | "out", bytes: number): void {
    this.#fileBytes.inc({ direction }, bytes);
  }

  /** `waitedMs` null: it never came to wait. */
  served(model: string | null, status: number, waitedMs: number | null = null): void {
    this.#served.inc({ model: model ?? "other", status: String(status) });
    if (waitedMs !== null && waitedMs > 0) this.#waited.inc({ model: model ?? "other" }, waitedMs / 1_000);
  }
}
