import type { Clock } from "@farmgate/shared";
import { LRUCache } from "lru-cache";
import type { CatalogPoller } from "../catalog/poller.ts";
import type { CatalogStore } from "../catalog/store.ts";
import type { Catalog, CatalogEvent, WorkerEntry } from "../catalog/types.ts";
import type { Hub } from "./hub.ts";
import { KnownPolls } from "./known-polls.ts";
import type { News } from "./news.ts";
import { asSeenHere, toldOf } from "./told-events.ts";

export interface SharedCatalogDeps {
  clock: Clock;
  hub: Pick<Hub, "id" | "tell" | "members" | "trouble" | "onChange">;
  catalog: CatalogStore;
  poller: Pick<CatalogPoller, "told" | "doubt" | "pollNow" | "reschedule">;
}

/** Answers of one pair are told once in so many milliseconds, unless they close a breaker. */
const ANSWER_MS = 1_000;
/** Pairs of which that is remembered. */
const PAIRS = 10_000;
/** So long another gateway's trial keeps this one's away, in milliseconds: its end may never be told. */
const TRIAL_MS = 30_000;

/** Tells the others what this gateway sees of the workers, and takes what they see. */
export class SharedCatalog {
  readonly #deps: SharedCatalogDeps;
  readonly #polls = new KnownPolls();
  readonly #answered = new LRUCache<string, number>({ max: PAIRS });
  /** Trials of others that are under way, by whose and which: when it began on this clock. */
  readonly #trials = new Map<string, number>();
  #met = "";

  constructor(deps: SharedCatalogDeps) {
    this.#deps = deps;
    const { hub, catalog, poller } = deps;
    catalog.onSeen((event, after, before) => this.#seen(event, after, before));
    hub.onChange(() => {
      const met = [hub.trouble === null, ...hub.members()].join("\n");
      if (met === this.#met) return;
      this.#met = met;
      poller.reschedule();
    });
  }

  take(news: Extract<News, { kind: "catalog" | "polled" }>, from: string): void {
    if (news.kind === "polled") this.#takePoll(news);
    else this.#takeEvent(news, from);
  }

  #seen(event: CatalogEvent, after: Catalog, before: Catalog): void {
    const { clock, hub, poller } = this.#deps;
    const now = clock.now();
    if (event.type === "configured") {
      this.#polls.keepOnly(new Set(event.workers.map(({ name }) => name)));
      return;
    }
    const { worker } = event;
    if (event.type === "polled") {
      const poll = this.#polls.made(worker, event.result);
      hub.tell({ kind: "polled", worker, ageMs: Math.max(0, now - event.startedAt), ...poll });
      return;
    }
    // One good poll here tells all of them that it is back.
    if (event.type === "refused" && entryOf(before, worker)?.refused === true) return;
    if (event.type === "answered" && !this.#isWorthTelling(event, after, before, now)) return;
    if (event.type === "refused" || event.type === "faulted" || event.type === "silent") poller.doubt(worker);
    const told = toldOf(event, now);
    if (told !== null) hub.tell({ kind: "catalog", ...told });
  }

  #isWorthTelling(
    { worker, model }: Extract<CatalogEvent, { type: "answered" }>,
    after: Catalog,
    before: Catalog,
    now: number,
  ): boolean {
    const pair = `${worker}\n${model}`;
    const last = this.#answered.get(pair);
    const isRelief = entryOf(after, worker)?.breakers !== entryOf(before, worker)?.breakers;
    if (last !== undefined && now - last < ANSWER_MS && !isRelief) return false;
    this.#answered.set(pair, now);
    return true;
  }

  #takePoll({ worker, ageMs, hash, result }: Extract<News, { kind: "polled" }>): void {
    const { clock, catalog, poller } = this.#deps;
    if (entryOf(catalog.current, worker) === undefined) return;
    poller.told(worker, { startedAt: clock.now() - ageMs, result: this.#polls.told(worker, { hash, result }) });
  }

  #takeEvent({ event: toldEvent, ageMs }: Extract<News, { kind: "catalog" }>, from: string): void {
    const { clock, catalog, poller } = this.#deps;
    const event = asSeenHere({ event: toldEvent, ageMs }, clock.now());
    if (event.type === "configured") return;
    const entry = entryOf(catalog.current, event.worker);
    if (entry === undefined) return;
    if (event.type === "refused") {
      if (entry.refused) return;
      catalog.apply(event, "elsewhere");
      // Where the way from here is open, that is known in no time.
      void poller.pollNow(event.worker);
    } else if (toldEvent.type === "tried" && event.type === "tried") {
      this.#begin(`${from}\n${event.worker}\n${event.model}\n${toldEvent.at}`, event);
    } else if (toldEvent.type === "trial_over" && event.type === "trial_over") {
      this.#end(`${from}\n${event.worker}\n${event.model}\n${toldEvent.at}`, event);
    } else catalog.apply(event, "elsewhere");
  }

  #begin(trial: string, event: Extract<CatalogEvent, { type: "tried" }>): void {
    const { clock, catalog } = this.#deps;
    this.#trials.set(trial, event.at);
    catalog.apply(event, "elsewhere");
    clock.after(TRIAL_MS, () => this.#end(trial, { ...event, type: "trial_over" }));
  }

  #end(trial: string, event: Extract<CatalogEvent, { type: "trial_over" }>): void {
    const at = this.#trials.get(trial);
    if (at === undefined) return;
    this.#trials.delete(trial);
    this.#deps.catalog.apply({ ...event, at }, "elsewhere");
  }
}

function entryOf(catalog: Catalog, worker: string): WorkerEntry | undefined {
  return catalog.workers.find(({ config }) => config.name === worker);
}
