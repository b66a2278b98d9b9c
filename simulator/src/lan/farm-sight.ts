import type { GatewayConfig } from "@farmgate/gateway";
import {
  type Choice,
  emptyCatalog,
  Inflight,
  LastCopies,
  Learned,
  RecentUse,
  reduce,
  type RoutingContext,
  type TrackedCatalog,
  Turns,
  type WorkerConfig,
} from "@farmgate/gateway/policies";
import type { PollResult } from "@farmgate/engines";
import { nameKey } from "@farmgate/shared";

/** What a gateway in virtual time knows of its farm, and chooses workers by. Times are virtual milliseconds. */
export class FarmSight {
  readonly #config: GatewayConfig;
  readonly #isBlind: boolean;
  readonly #learned = new Learned();
  /** What each worker told last. */
  readonly #told = new Map<string, PollResult>();
  readonly turns = new Turns();
  readonly inflight = new Inflight();
  readonly recentUse = new RecentUse();
  readonly lastCopies = new LastCopies(this.recentUse);
  catalog: TrackedCatalog;

  /** `isBlind`: what is loaded is not told to it. */
  constructor(config: GatewayConfig, workers: readonly WorkerConfig[], isBlind: boolean) {
    this.#config = config;
    this.#isBlind = isBlind;
    this.catalog = reduce(emptyCatalog(), { type: "configured", workers }, 0, config.health);
  }

  /** true: the catalogue has changed. */
  polled(worker: string, startedAt: number, told: PollResult, now: number): boolean {
    if (told.kind === "ok") this.inflight.polled(worker);
    // A worker to which nothing has happened tells the very same, of which nothing follows but that it is as new.
    if (this.#told.get(worker) === told) return false;
    this.#told.set(worker, told);
    const result = this.#isBlind ? withoutResidency(told) : told;
    const before = this.catalog.version;
    this.catalog = reduce(this.catalog, { type: "polled", worker, startedAt, result }, now, this.#config.health);
    return this.catalog.version !== before;
  }

  answered({ warmth, worker, upstreamModel }: Choice, foundSlot: boolean, firstByteMs: number, ms: number): void {
    if (!this.#config.routing.waitOrSwap) return;
    if (warmth !== "cold" && !(warmth === "warm" && foundSlot)) return;
    const found = { found: warmth, streamed: true, firstByteMs, ms } as const;
    this.#learned.answered(worker.config.name, nameKey(upstreamModel), found);
  }

  context(waitingAhead: number, now: number): RoutingContext {
    const { strategy, waitOrSwap } = this.#config.routing;
    const { catalog, inflight, lastCopies, turns } = this;
    const plain = { catalog, inflight, turns, strategy, now };
    if (this.#isBlind) return plain;
    if (!waitOrSwap) return { ...plain, lastCopies };
    return { ...plain, lastCopies, pricing: { learned: this.#learned, inflight, waitingAhead } };
  }
}

function withoutResidency(result: PollResult): PollResult {
  if (result.kind !== "ok") return result;
  const models = result.report.models.map((model) => ({ ...model, state: "unknown" as const }));
  return { ...result, report: { ...result.report, models } };
}
