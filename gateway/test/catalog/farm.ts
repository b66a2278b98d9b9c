import { catalogModel, catalogReport } from "@farmgate/engines";
import { namedModel } from "../../src/catalog/named-model.ts";
import { emptyCatalog, reduce } from "../../src/catalog/reduce.ts";
import type { TrackedCatalog, TrackedWorker } from "../../src/catalog/tracked.ts";
import type { CatalogModel, CatalogReport, EngineName, PollResult } from "@farmgate/engines";
import type { CatalogEvent, WorkerConfig } from "../../src/catalog/types.ts";

export function workerConfig(name: string, more: Partial<WorkerConfig> = {}): WorkerConfig {
  return {
    name,
    url: `http://${name}.test:8401`,
    engine: "agent",
    weight: null,
    models: { allow: ["*"], deny: [] },
    maxConcurrent: 0,
    apiKey: null,
    drainOnAbort: { bytes: 0, time: 0 },
    ...more,
  };
}

export function report(models: readonly CatalogModel[], more: Partial<CatalogReport> = {}): CatalogReport {
  return catalogReport(models, more);
}

/** A good poll of models, each as `name` (cold) or `name=state`. */
export function ok(names: readonly string[], engine: EngineName = "agent"): PollResult {
  const models = names.map((text) => {
    const [name = "", state = "cold"] = text.split("=");
    return catalogModel(name, state as CatalogModel["state"]);
  });
  return { kind: "ok", engine, report: report(models) };
}

export const dead: PollResult = { kind: "dead", reason: "no answer within 2000 ms" };
export const refused: PollResult = { kind: "refused", reason: "connection refused" };
export const broken: PollResult = { kind: "no_catalog", engine: null, reason: "/catalog answered 500" };

/** A catalogue with a clock that moves on by one second with each event. */
export class Farm {
  catalog: TrackedCatalog = emptyCatalog();
  now = 1_000;
  readonly health = { unhealthyAfter: 3, healthyAfter: 1 };

  constructor(...workers: (WorkerConfig | string)[]) {
    this.on({ type: "configured", workers: workers.map((w) => (typeof w === "string" ? workerConfig(w) : w)) });
  }

  on(event: CatalogEvent): this {
    this.now += 1_000;
    this.catalog = reduce(this.catalog, event, this.now, this.health);
    return this;
  }

  polled(worker: string, result: PollResult, startedAt: number = this.now): this {
    return this.on({ type: "polled", worker, startedAt, result });
  }

  answered(worker: string, model: string, at: number = this.now): this {
    return this.on({ type: "answered", worker, model, at });
  }

  worker(name: string): TrackedWorker {
    const found = this.catalog.workers.find((worker) => worker.config.name === name);
    if (found === undefined) throw new Error(`no worker ${name}`);
    return found;
  }

  state(worker: string, model: string): string | undefined {
    return namedModel(this.worker(worker), model)?.state;
  }
}
