import { nameKey } from "@farmgate/shared";
import { sameList, showModels } from "./show-models.ts";
import { NO_ENTRIES, type TrackedWorker } from "./tracked.ts";
import type { CatalogModel, CatalogReport, EngineName, PollResult } from "@farmgate/engines";

/** How long a failed load keeps its model back, in milliseconds. */
export const RETRY_MS = 60_000;

export interface HealthSettings {
  /** Missed polls in a row after which a worker is out (`health.unhealthyAfter`). */
  unhealthyAfter: number;
  /** Good polls in a row after which it is back (`health.healthyAfter`). */
  healthyAfter: number;
}

export interface Poll {
  startedAt: number;
  result: PollResult;
}

/**
 * What one poll makes of its worker (contract: "Polls").
 *
 * 1. Older than the last one that counted: nothing.
 * 2. ok: fresh, and healthy at once.
 * 3. loading: alive; its last known models are loading.
 * 4. no_catalog: alive and routable; the last good catalogue stays, but is not what counts.
 * 5. unauthorized: out until the owner mends the key.
 * 6. dead or refused, while answer bytes came since the poll before: alive after all, by another proof.
 * 7. dead or refused: a miss; `unhealthyAfter` of them in a row, and it is out.
 * 8. One that is out is back after `healthyAfter` polls in a row that show it alive; what they tell counts at once.
 */
export function reducePoll(worker: TrackedWorker, poll: Poll, now: number, settings: HealthSettings): TrackedWorker {
  // 1
  if (worker.polledAt !== null && poll.startedAt < worker.polledAt) return worker;
  const next = afterPoll(worker, poll, now, settings.unhealthyAfter);
  // 8
  if (worker.health !== "unhealthy" || next.health !== "healthy") {
    return next.goodPolls === 0 ? next : { ...next, goodPolls: 0 };
  }
  const goodPolls = worker.goodPolls + 1;
  const { healthyAfter } = settings;
  if (goodPolls >= healthyAfter) return { ...next, goodPolls: 0 };
  const problem = `answers again: ${goodPolls} of ${healthyAfter} good polls`;
  return { ...next, health: "unhealthy", goodPolls, problem };
}

function afterPoll(worker: TrackedWorker, poll: Poll, now: number, unhealthyAfter: number): TrackedWorker {
  const { result, startedAt } = poll;
  const polled = { ...worker, polledAt: startedAt };
  const flowing = worker.answeredAt !== null && worker.answeredAt >= (worker.polledAt ?? -Infinity);
  switch (result.kind) {
    // 2
    case "ok":
      return good(polled, startedAt, result.engine, result.report, now);
    // 3
    case "loading":
      return showModels({
        ...alive(polled, startedAt),
        engine: result.engine,
        catalog: worker.told === null ? "unreachable" : "stale",
        problem: "it is loading its model",
        loading: true,
        answered: later(worker.answered, startedAt),
      });
    // 4
    case "no_catalog":
      return withoutCatalog(polled, startedAt, result.engine, result.reason);
    // 5
    case "unauthorized":
      return {
        ...alive(polled, startedAt),
        engine: result.engine ?? worker.engine,
        health: "misconfigured",
        catalog: "unreachable",
        problem: result.reason,
      };
    case "dead":
    case "refused": {
      const refused = result.kind === "refused";
      // 6
      if (flowing && !refused) return withoutCatalog(polled, startedAt, null, result.reason);
      const seen = refused ? refusal(polled, startedAt) : polled;
      const missed = { ...seen, problem: result.reason, catalog: olderCatalog(worker) } as const;
      // 7
      return flowing ? missed : miss(missed, unhealthyAfter);
    }
  }
}

/** A connection was refused: nothing listens there, so that whatever it held loaded is gone too. */
export function refusal(worker: TrackedWorker, at: number): TrackedWorker {
  const gone = { ...worker, refused: true, refusedAt: at, answered: later(worker.answered, at), lastAnswered: null };
  const same = gone.answered === worker.answered && worker.lastAnswered === null;
  return same ? gone : showModels(gone);
}

function alive(worker: TrackedWorker, startedAt: number): TrackedWorker {
  const refused = worker.refused && worker.refusedAt !== null && worker.refusedAt > startedAt;
  return { ...worker, health: "healthy", missedPolls: 0, refused };
}

function good(
  worker: TrackedWorker,
  startedAt: number,
  engine: EngineName,
  report: CatalogReport,
  now: number,
): TrackedWorker {
  const changed = engine !== worker.engine || !sameOffer(worker.told, report);
  return showModels({
    ...alive(worker, startedAt),
    engine,
    catalog: "fresh",
    catalogAt: startedAt,
    problem: null,
    told: report,
    loading: false,
    answered: later(worker.answered, startedAt),
    lastAnswered: engine === worker.engine ? worker.lastAnswered : null,
    asideUntil: changed ? NO_ENTRIES : unexpired(worker.asideUntil, now),
    retryAt: retries(worker.retryAt, report.models, startedAt, now),
  });
}

function withoutCatalog(
  worker: TrackedWorker,
  startedAt: number,
  engine: EngineName | null,
  reason: string,
): TrackedWorker {
  return {
    ...alive(worker, startedAt),
    engine: engine ?? worker.engine,
    catalog: "unreachable",
    problem: reason,
  };
}

function miss(worker: TrackedWorker, unhealthyAfter: number): TrackedWorker {
  const missedPolls = worker.missedPolls + 1;
  if (missedPolls < unhealthyAfter) return { ...worker, missedPolls };
  return showModels({
    ...worker,
    missedPolls,
    health: "unhealthy",
    catalog: "unreachable",
    answered: NO_ENTRIES,
    lastAnswered: null,
    breakers: NO_ENTRIES,
    outcomes: NO_ENTRIES,
    loading: false,
  });
}

/** A catalogue that was out of reach does not come back into use by a poll that brought nothing at all. */
function olderCatalog(worker: TrackedWorker): TrackedWorker["catalog"] {
  return worker.told === null || worker.catalog === "unreachable" ? "unreachable" : "stale";
}

/** The same names on offer, in whatever order and state. */
function sameOffer(last: CatalogReport | null, next: CatalogReport): boolean {
  if (last === null || last.models.length !== next.models.length) return false;
  const offered = new Map(last.models.map((model) => [model.id, model]));
  return next.models.every((model) => {
    const before = offered.get(model.id);
    return before !== undefined && sameList(before.aliases, model.aliases) && sameList(before.apis, model.apis);
  });
}

/** Answers that came while this poll was under way outlive what it says. */
function later(answered: ReadonlyMap<string, number>, startedAt: number): ReadonlyMap<string, number> {
  return filtered(answered, (at) => at >= startedAt);
}

function unexpired<T extends { until: number }>(aside: ReadonlyMap<string, T>, now: number): ReadonlyMap<string, T> {
  return filtered(aside, ({ until }) => until > now);
}

/**
 * Failed loads after a new catalogue: one that failed while this poll was under way stays; one whose model is now
 * warm or loading goes; one that the engine itself calls failed stays, its time passed or not; any other goes when
 * its time has come.
 */
function retries(
  retryAt: ReadonlyMap<string, number>,
  models: readonly CatalogModel[],
  startedAt: number,
  now: number,
): ReadonlyMap<string, number> {
  const states = new Map(models.flatMap((m) => [m.id, ...m.aliases].map((name) => [nameKey(name), m.state] as const)));
  const kept = filtered(retryAt, (due, key) => {
    const state = states.get(key);
    if (due - RETRY_MS > startedAt || state === "failed") return true;
    return state !== "warm" && state !== "loading" && due > now;
  });
  let next: Map<string, number> | null = null;
  for (const [key, state] of states) {
    if (state !== "failed" || kept.has(key)) continue;
    next ??= new Map(kept);
    next.set(key, now + RETRY_MS);
  }
  return next ?? kept;
}

/** The entries that `keep` keeps; the very same map when it keeps all. */
function filtered<T>(map: ReadonlyMap<string, T>, keep: (value: T, key: string) => boolean): ReadonlyMap<string, T> {
  if (map.size === 0) return map;
  const kept = new Map([...map].filter(([key, value]) => keep(value, key)));
  return kept.size === map.size ? map : kept;
}
