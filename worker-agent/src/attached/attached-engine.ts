import { isDeepStrictEqual } from "node:util";
import {
  type Adapter,
  adapterFor,
  type CatalogModel,
  type EngineName,
  EnginePoll,
  type PollResult,
} from "@farmgate/engines";
import type { CancelTimer, Clock } from "@farmgate/shared";
import { type Log, pollGet } from "@farmgate/wire";
import type { Dispatcher } from "undici";
import type { ServedModel } from "../served-model.ts";
import {
  elsewhere,
  type EngineConfig,
  listedModels,
  MOST_MODELS,
  remember,
  type Remembered,
  unlistedNames,
} from "./listed-models.ts";
import type { NameClaims } from "./name-claims.ts";
import { type LostModel, Residency } from "./residency.ts";

/** Limit on each GET of a look, in milliseconds. */
const GET_MS = 2_000;

/** What happens at attached engines by itself. None of it may throw. */
export interface EngineNews {
  /** The engine's list or what is known of its models has changed: these are all that it serves now. */
  onModels(url: string, models: readonly ServedModel[]): void;
  /** A model is loaded that the agent did not load. */
  onFound(model: string): void;
  /** A model that the agent took for loaded is not. `reason` reads on after its name. */
  onLost(model: string, reason: string): void;
}

export interface AttachedEngineDeps {
  claims: NameClaims;
  news: EngineNews;
  /** Of the looks; the clock of each GET is its own. */
  dispatcher: Dispatcher;
  /** For models without a time-out of their own, in milliseconds. */
  timeoutMs: number;
  clock: Clock;
  log: Log;
}

/** One attached engine: looked at again and again, and asked before and after what the agent has it do. */
export class AttachedEngine {
  readonly config: EngineConfig;
  readonly residency = new Residency();
  readonly #deps: AttachedEngineDeps;
  readonly #poll: EnginePoll;
  readonly #stop = new AbortController();
  #models: readonly ServedModel[] = [];
  #listed: ReadonlyMap<string, CatalogModel> = new Map();
  #remembered: ReadonlyMap<string, Remembered> = new Map();
  #engine: EngineName | null = null;
  /** What was last said of its being out of order; null: it is in order. */
  #trouble: string | null = null;
  readonly #said = new Set<string>();
  #running: Promise<PollResult> | null = null;
  #next: Promise<PollResult> | null = null;
  #cancelTimer: CancelTimer = () => {};
  /** The first list is taken in when this has settled. */
  #turn: Promise<unknown> = Promise.resolve();
  /** Until the agent has asked what is found at start, the answer to that tells of it. */
  #tellsFound = false;

  constructor(config: EngineConfig, deps: AttachedEngineDeps) {
    this.config = config;
    this.#deps = deps;
    const get = (path: string) => pollGet(deps.dispatcher, deps.clock, config, path, GET_MS, this.#stop.signal);
    this.#poll = new EnginePoll(config.engine, get);
  }

  /** What it serves, by its last good list. */
  get models(): readonly ServedModel[] {
    return this.#models;
  }

  /** Which engine it was found to be; null: it has never shown a usable list. */
  get engine(): EngineName | null {
    return this.#engine;
  }

  /** How that engine is spoken to; null: not known. */
  get adapter(): Adapter | null {
    return this.#engine === null ? null : adapterFor(this.#engine);
  }

  /** Why its list is not to be had now; null: it is. */
  get trouble(): string | null {
    return this.#trouble;
  }

  /** The model in its last good list. */
  listed(model: ServedModel): CatalogModel | null {
    return this.#listed.get(model.engineName) ?? null;
  }

  /** The first look; what it brings waits for its `turn`, so that the order of engines decides whose a name is. */
  begin(turn: Promise<unknown>): Promise<PollResult> {
    this.#turn = turn;
    return this.look();
  }

  /** A look that begins now or later: one that is under way may tell of what was before. Never rejects. */
  look(): Promise<PollResult> {
    if (this.#running === null) return this.#run();
    this.#next ??= this.#running.then(() => {
      this.#next = null;
      return this.#running ?? this.#run();
    });
    return this.#next;
  }

  /**
   * Its models that the last list tells to be loaded, or to load, as for an agent that was killed: from now on taken to
   * be loaded. Later ones come as `onFound`.
   */
  foundLoaded(): ServedModel[] {
    this.#tellsFound = true;
    return this.#models.filter((model) => {
      const state = this.#trouble === null ? this.listed(model)?.state : undefined;
      if (state === "loading") this.residency.arriving(model.name);
      else if (state === "warm" || this.residency.isLoaded(model.name)) this.residency.told(model.name, true);
      else return false;
      return true;
    });
  }

  /** Looks no more. */
  stop(): void {
    this.#stop.abort();
    this.#cancelTimer();
  }

  #run(): Promise<PollResult> {
    this.#cancelTimer();
    const startedAt = this.#deps.clock.now();
    const mark = this.residency.look();
    this.#running = this.#poll
      .run()
      .catch(unreadable)
      .then(async (result) => {
        await this.#turn;
        if (!this.#stop.signal.aborted) {
          this.#schedule(startedAt + this.config.poll);
          this.#take(result, mark);
        }
        return result;
      })
      .finally(() => {
        this.#running = null;
      });
    return this.#running;
  }

  #schedule(due: number): void {
    const { clock } = this.#deps;
    this.#cancelTimer = clock.after(Math.max(0, due - clock.now()), () => void this.look());
  }

  #take(result: PollResult, mark: number): void {
    if (result.kind === "ok" && result.engine !== "agent") {
      this.#inOrder(result.engine);
      this.#takeReport(result, mark);
      return;
    }
    this.#outOfOrder(troubleOf(result));
    // Its process is gone, and its models with it; any other silence tells nothing of them.
    if (result.kind === "refused") this.#tellLost(this.residency.gone(mark));
  }

  #takeReport({ engine, report }: PollResult & { kind: "ok" }, mark: number): void {
    const { claims, news, timeoutMs } = this.#deps;
    const { config } = this;
    const before = this.#remembered;
    this.#engine = engine;
    this.#listed = new Map(report.models.map((model) => [model.id, model]));
    this.#remembered = new Map(report.models.map((model) => [model.id, remember(model, before.get(model.id))]));
    const { models, leftOut } = listedModels({ config, engine, report, remembered: this.#remembered, timeoutMs });
    const { kept, clashes } = claims.claim(config.url, models);
    if (leftOut > 0) {
      this.#sayOnce(`${config.url} lists more than ${MOST_MODELS} models; those after are left out: \`allow\` chooses`);
    }
    for (const { spelling, owner } of clashes) {
      this.#sayOnce(`${config.url} lists ${spelling}, which is left out: that already names ${owner}`);
    }
    for (const id of elsewhere(engine, report)) {
      this.#sayOnce(`${config.url} lists ${id}, which is left out: it does not run there`);
    }
    for (const name of unlistedNames(config, report)) {
      this.#sayOnce(`${config.url} does not list ${name}, which its \`models\` name`);
    }
    const states = new Map(kept.map((model) => [model.name, this.listed(model)?.state ?? "unknown"]));
    const quiet = !this.#tellsFound;
    const changes = quiet ? { found: [], lost: [] } : this.residency.seen(mark, states);
    this.#tellLost(changes.lost);
    if (!isDeepStrictEqual(kept, this.#models)) {
      this.#models = kept;
      news.onModels(config.url, kept);
    }
    for (const model of changes.found) news.onFound(model);
  }

  #tellLost(lost: readonly LostModel[]): void {
    for (const { model, reason } of lost) this.#deps.news.onLost(model, reason);
  }

  #inOrder(engine: EngineName): void {
    const { url } = this.config;
    if (this.#trouble !== null || this.#engine === null) this.#deps.log.info({ engine, url }, `${url} is ${engine}`);
    this.#trouble = null;
  }

  #outOfOrder(trouble: string): void {
    const { url } = this.config;
    if (this.#trouble === null) {
      this.#deps.log.warn({ url, error: trouble }, `the list of the engine at ${url} is not to be had`);
    }
    this.#trouble = trouble;
  }

  #sayOnce(text: string): void {
    if (this.#said.has(text) || this.#said.size >= MOST_SAID) return;
    this.#said.add(text);
    this.#deps.log.warn({ url: this.config.url }, text);
  }
}

/** A list that changes all the time must fill neither the log nor the memory. */
const MOST_SAID = 200;

function troubleOf(result: PollResult): string {
  if (result.kind === "ok") return "a worker agent answers there: the gateway is to know it, not this agent";
  return result.kind === "loading" ? "it is loading its model" : result.reason;
}

/** A fault of our own in reading an answer must neither stop the looks nor pass unseen. */
function unreadable(error: unknown): PollResult {
  const reason = `its list could not be read: ${error instanceof Error ? error.message : String(error)}`;
  return { kind: "no_catalog", engine: null, reason };
}
