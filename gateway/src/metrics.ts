import { dropSeries, PROCESS_GAUGES } from "@farmgate/wire";
import { AggregatorRegistry, Counter, Gauge, Histogram, Registry } from "prom-client";
import { GatheredCounter } from "./gathered-counter.ts";
import { knownState } from "./catalog/known-state.ts";
import type { Catalog } from "./catalog/types.ts";
import type { Warmth } from "./placement/warmth-notes.ts";
import type { Usage } from "./proxy/usage-tap.ts";
import type { Claimed, Hub } from "./together/hub.ts";
import { TogetherMetrics } from "./together/together-metrics.ts";
import { OF_ALL } from "./together/of-all.ts";

/** What gauges read at the moment of a scrape. */
export interface FarmFigures {
  catalog(): Catalog;
  inflight: { ownWorker(name: string): number };
  /** null: the gateway is the only one. */
  hub: Pick<Hub, "members" | "trouble"> | null;
  waiting(): number;
  bodyBytes(): number;
  /** Planned copies of each model by pool; none while placement is off. */
  replicas(): readonly { model: string; pool: string; replicas: number }[];
  copies: { listedWarmth(): readonly Warmth[]; wantedWarmth(): readonly Warmth[] };
  /** Milliseconds, on the clock of `WorkerEntry.catalogAt`. */
  now(): number;
}

/** One inference request that has ended. Seconds; `worker` is one of the farm's or `other`; it,
 * `warmth` and `ttft` are null when no worker answered. */
export interface RequestFigures {
  api: string;
  /** A catalogue name or `other`, never what a caller typed. */
  model: string;
  worker: string | null;
  warmth: string | null;
  status: number;
  seconds: number;
  ttftSeconds: number | null;
  /** The gateway's own share of the time to the first try, waiting for a worker left out. */
  overheadSeconds: number | null;
  /** Spent waiting at the gateway for a worker below its cap. */
  waitedSeconds: number;
  /** From the asking of the worker that was asked last to the end; null: none was asked. */
  askedSeconds: number | null;
}

/** What one process' `figures` are, for another one's `text`. */
export type ProcessFigures = Awaited<ReturnType<Registry["getMetricsAsJSON"]>>;

/** Every metric of the gateway (contract section 6), in a registry of its own. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #catalog: () => Catalog;
  /** The union of the last reading, and the workers' names. */
  #seen: { union: Catalog["union"] | null; workers: string } = { union: null, workers: "" };
  readonly #requests = this.#gathered("farmgate_requests_total", "Inference requests that have ended", [
    "api",
    "model",
    "worker",
    "status",
    "warmth",
  ]);
  readonly #seconds = this.#histogram(
    "farmgate_request_seconds",
    "From a request's arrival to the end of its answer",
    ["api"],
    [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900],
  );
  readonly #ttft = this.#histogram(
    "farmgate_ttft_seconds",
    "From a request's arrival to the first byte of its answer",
    ["model", "worker"],
    [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900],
  );
  readonly #overhead = this.#histogram(
    "farmgate_overhead_seconds",
    "The gateway's own time before the first worker was asked",
    [],
    [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 1],
  );
  readonly #retries = this.#counter("farmgate_retries_total", "Tries that failed before a byte was passed on", [
    "reason",
  ]);
  readonly #retriesRefused = this.#counter(
    "farmgate_retries_refused_total",
    "Requests that no further worker was asked for, since too many were being retried",
    [],
  );
  readonly #deadlinesMissed = this.#counter(
    "farmgate_deadlines_missed_total",
    "Deadlines that no worker could meet: the request waited on with a longer one, or was refused",
    ["end"],
  );
  readonly #tokens = this.#gathered("farmgate_tokens_total", "Tokens as the engines counted them", [
    "model",
    "worker",
    "direction",
  ]);
  readonly #asked = this.#gathered(
    "farmgate_worker_seconds_total",
    "Time of requests from the asking of a worker to their end, its own queue and swaps with it",
    ["model", "worker"],
  );
  readonly #waited = this.#gathered("farmgate_queue_wait_seconds_total", "Time that requests waited at the gateway", [
    "model",
  ]);
  readonly #keysLimited = this.#counter(
    "farmgate_keys_limited_total",
    "Requests refused because their key, told by its name, was at its own limit",
    ["key"],
  );
  readonly #truncated = this.#counter(
    "farmgate_streams_truncated_total",
    "Streams that broke or ended without [DONE]",
    ["worker"],
  );

  readonly #batchCalls = this.#histogram(
    "farmgate_embedding_batch_calls",
    "Requests that were put to a worker as one",
    [],
    [2, 4, 8, 16, 32, 64, 128],
  );
  readonly #parted = this.#counter(
    "farmgate_embedding_batches_parted_total",
    "Joint requests whose callers were then served one by one",
    ["reason"],
  );
  readonly #placed = this.#counter("farmgate_placement_actions_total", "Loads and unloads that placement ordered", [
    "kind",
    "result",
  ]);
  readonly #together: TogetherMetrics | null;

  constructor(figures: FarmFigures) {
    this.#catalog = () => figures.catalog();
    this.#together = figures.hub === null ? null : new TogetherMetrics(this.#registry, figures.hub);
    this.#gauge("farmgate_queue_depth", "Requests that wait at the gateway", [], (gauge) =>
      gauge.set(figures.waiting()),
    );
    this.#gauge("farmgate_body_bytes", "Bodies of requests whose answers have not begun", [], (gauge) =>
      gauge.set(figures.bodyBytes()),
    );
    this.#gauge("farmgate_inflight", "Requests under way at a worker", ["worker"], (gauge) => {
      for (const { config } of figures.catalog().workers)
        gauge.set({ worker: config.name }, figures.inflight.ownWorker(config.name));
    });
    this.#gauge("farmgate_worker_up", "1 while a worker answers its polls", ["worker"], (gauge) => {
      for (const { config, health } of figures.catalog().workers)
        gauge.set({ worker: config.name }, health === "healthy" ? 1 : 0);
    });
    this.#gauge("farmgate_catalog_age_seconds", "Since a worker's last good catalogue", ["worker"], (gauge) => {
      for (const { config, catalogAt } of figures.catalog().workers) {
        if (catalogAt !== null) gauge.set({ worker: config.name }, Math.max(0, figures.now() - catalogAt) / 1_000);
      }
    });
    this.#gauge("farmgate_model_warm", "1 while a model is loaded on a worker", ["worker", "model"], (gauge) => {
      for (const worker of figures.catalog().workers) {
        for (const model of worker.report?.models ?? []) {
          const labels = { worker: worker.config.name, model: model.id };
          gauge.set(labels, knownState(worker, model) === "warm" ? 1 : 0);
        }
      }
    });
    this.#copies(figures);
    this.#gauge("farmgate_placement_replicas", "Loaded copies that placement counts", ["model", "pool"], (gauge) => {
      for (const { model, pool, replicas } of figures.replicas()) gauge.set({ model, pool }, replicas);
    });
    this.#gauge("farmgate_breaker_open", "1 while a model is put aside on a worker", ["worker", "model"], (gauge) => {
      for (const { config, byKey, breakers } of figures.catalog().workers) {
        // Every pair has its line, so that one that closes is seen to, and none that ever opened is lost.
        for (const { id } of byKey.values()) gauge.set({ worker: config.name, model: id }, 0);
        for (const [key, { openUntil }] of breakers) {
          const model = byKey.get(key)?.id ?? "other";
          gauge.inc({ worker: config.name, model }, openUntil === null ? 0 : 1);
        }
      }
    });
    for (const { name, help, read } of PROCESS_GAUGES) this.#gauge(name, help, [], (gauge) => gauge.set(read()));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /**
   * Prometheus text of this process and of `others` together. Series of workers that were removed, and of models that
   * nobody lists any more, are dropped.
   */
  async text(others: readonly ProcessFigures[] = []): Promise<string> {
    if (others.length > 0) return AggregatorRegistry.aggregate([await this.figures(), ...others]).metrics();
    await this.#dropGone();
    return this.#registry.metrics();
  }

  /** For the `text` of another process. */
  async figures(): Promise<ProcessFigures> {
    await this.#dropGone();
    return this.#registry.getMetricsAsJSON();
  }

  async #dropGone(): Promise<void> {
    const { union, workers } = this.#catalog();
    const names = workers.map(({ config }) => config.name);
    if (union !== this.#seen.union || names.join() !== this.#seen.workers) {
      this.#seen = { union, workers: names.join() };
      const lasting = ["", "other"];
      // A worker that is away still has its models, and their counts go on when it is back.
      const listed = workers.flatMap(({ report }) => report?.models.map(({ id }) => id) ?? []);
      const models = new Set([...Array.from(union.values(), ({ id }) => id), ...listed, ...lasting]);
      const known = new Set([...names, ...lasting]);
      await dropSeries(this.#registry, { worker: (name) => known.has(name), model: (id) => models.has(id) });
    }
  }

  ended(figures: RequestFigures): void {
    const { api, model, status } = figures;
    const worker = figures.worker ?? "";
    this.#requests.inc({ api, model, worker, status, warmth: figures.warmth ?? "" });
    this.#seconds.observe({ api }, figures.seconds);
    if (figures.ttftSeconds !== null) this.#ttft.observe({ model, worker }, figures.ttftSeconds);
    if (figures.overheadSeconds !== null) this.#overhead.observe(figures.overheadSeconds);
    if (figures.waitedSeconds > 0) this.#waited.inc({ model }, figures.waitedSeconds);
    if (figures.askedSeconds !== null && worker !== "") this.#asked.inc({ model, worker }, figures.askedSeconds);
  }

  /** A key's own limit has refused a request. `key`: its name. */
  keyLimited(key: string): void {
    this.#keysLimited.inc({ key });
  }

  retried(reason: string): void {
    this.#retries.inc({ reason });
  }

  retryRefused(): void {
    this.#retriesRefused.inc();
  }

  deadlineMissed(end: "relaxed" | "refused"): void {
    this.#deadlinesMissed.inc({ end });
  }

  /** A joint request for so many callers is put to a worker. */
  joined(calls: number): void {
    this.#batchCalls.observe(calls);
  }

  parted(reason: "refused" | "failed" | "unusable"): void {
    this.#parted.inc({ reason });
  }

  /** An order of placement was taken, or failed. */
  placed(kind: string, result: string): void {
    this.#placed.inc({ kind, result });
  }

  /** Another gateway's counts were asked for. */
  claimed(result: Claimed["kind"], seconds: number): void {
    this.#together?.claimed(result, seconds);
  }

  truncated(worker: string): void {
    this.#truncated.inc({ worker });
  }

  used(model: string, worker: string, usage: Usage): void {
    if (usage.prompt !== null) this.#tokens.inc({ model, worker, direction: "prompt" }, usage.prompt);
    if (usage.completion !== null) this.#tokens.inc({ model, worker, direction: "completion" }, usage.completion);
  }

  #copies({ copies }: FarmFigures): void {
    this.#gauge("farmgate_model_warm_copies", "Loaded copies that can be counted on", ["model"], (gauge) => {
      for (const { name, copies: count } of copies.listedWarmth()) gauge.set({ model: name }, count);
    });
    this.#gauge("farmgate_keep_warm_wanted", "Copies to be kept warm", ["model"], (gauge) => {
      for (const { name, wanted } of copies.wantedWarmth()) gauge.set({ model: name }, wanted ?? 0);
    });
    this.#gauge("farmgate_keep_warm_missing", "Copies to be kept warm that are not", ["model"], (gauge) => {
      for (const { name, wanted, copies: count } of copies.wantedWarmth()) {
        gauge.set({ model: name }, Math.max(0, (wanted ?? 0) - count));
      }
    });
  }

  #counter<L extends string>(name: string, help: string, labelNames: L[]): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  /** For what is counted with every answer. */
  #gathered<L extends string>(name: string, help: string, labelNames: L[]): GatheredCounter<L> {
    return new GatheredCounter({ name, help, labelNames, registers: [this.#registry] });
  }

  #histogram<L extends string>(name: string, help: string, labelNames: L[], buckets: number[]): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.#registry] });
  }

  #gauge<L extends string>(name: string, help: string, labelNames: L[], read: (gauge: Gauge<L>) => void): void {
    const gauge: Gauge<L> = new Gauge({
      name,
      help,
      labelNames,
      aggregator: OF_ALL[name] ?? "sum",
      registers: [this.#registry],
      collect: () => {
        gauge.reset();
        read(gauge);
      },
    });
  }
}
