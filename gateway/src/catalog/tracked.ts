import type { Listings } from "./listings.ts";
import type { CatalogReport } from "@farmgate/engines";
import type { Outcome } from "../routing/fault-rate.ts";
import type { Catalog, WorkerConfig, WorkerEntry } from "./types.ts";

/** A worker with what the reduction itself must remember between events; readers see the `WorkerEntry`. */
export interface TrackedWorker extends WorkerEntry {
  /** The last good catalogue as it came; `report` and `byKey` show it with what happened since. */
  told: CatalogReport | null;
  /** Drained by an operator here; the agent's own word is in `told`. */
  drainedHere: boolean;
  /** When the last poll that counted was started. */
  polledAt: number | null;
  /** When a connection was last refused. */
  refusedAt: number | null;
  /** When answer bytes last came, of whichever model. */
  answeredAt: number | null;
  /** Models that answered since the last good poll: nameKey -> when. */
  answered: ReadonlyMap<string, number>;
  /** The model it last answered, for engines that swap unseen. */
  lastAnswered: string | null;
  /** Its last known models are loading (llama-server's 503 "Loading model"). */
  loading: boolean;
  retryAt: ReadonlyMap<string, number>;
  /** How the last requests for a model ended, where one failed of late: by nameKey of the worker's own name. */
  outcomes: ReadonlyMap<string, readonly Outcome[]>;
  /** Good polls in a row of a worker that was unhealthy, and still is until there are `healthyAfter`. */
  goodPolls: number;
}

/** The catalogue as the reduction carries it on. */
export interface TrackedCatalog extends Catalog {
  workers: readonly TrackedWorker[];
  listings: Listings;
}

export const NO_ENTRIES: ReadonlyMap<string, never> = new Map<string, never>();

/** A worker of which nothing is known yet. */
export function newWorker(config: WorkerConfig): TrackedWorker {
  return {
    config,
    engine: config.engine === "auto" ? null : config.engine,
    health: "unknown",
    catalog: "unreachable",
    catalogAt: null,
    draining: false,
    refused: false,
    missedPolls: 0,
    problem: null,
    report: null,
    byKey: NO_ENTRIES,
    byAlias: NO_ENTRIES,
    asideUntil: NO_ENTRIES,
    breakers: NO_ENTRIES,
    told: null,
    drainedHere: false,
    polledAt: null,
    refusedAt: null,
    answeredAt: null,
    answered: NO_ENTRIES,
    lastAnswered: null,
    loading: false,
    retryAt: NO_ENTRIES,
    outcomes: NO_ENTRIES,
    goodPolls: 0,
  };
}
