import type { Clock } from "@farmgate/shared";
import { createPollAgent, type Log } from "@farmgate/wire";
import type { AgentConfig } from "../config.ts";
import type { HeldResult, Holder } from "../holders/holder.ts";
import type { ServedModel } from "../served-model.ts";
import type { EngineStatus } from "../status.ts";
import type { EngineAsker } from "../swap/ask-engine.ts";
import type { EngineFacts } from "../swap/engine-list.ts";
import { pause } from "../swap/pause.ts";
import { AttachedEngine, type EngineNews } from "./attached-engine.ts";
import { load } from "./load.ts";
import { NameClaims } from "./name-claims.ts";
import { type Failure, look, type Order, stateIn } from "./orders.ts";
import { unload } from "./unload.ts";

/** Limit on the first look at all engines, in milliseconds: one that is out of order must not keep the agent closed. */
const START_MS = 5_000;
/** Longest wait until a model is out of memory, in milliseconds: another client may keep it there. */
const UNLOAD_MS = 60_000;
/** Limit on a single look by order, in milliseconds. */
const LOOK_MS = 5_000;

export interface AttachedHolderDeps {
  asker: EngineAsker;
  news: EngineNews;
  clock: Clock;
  log: Log;
}

/**
 * Holds the models of all attached engines. The engines are their owner's: they are asked to load and unload, and when
 * the agent stops they stay as they are.
 *
 * On Ollama a load says `keep_alive: -1`: its own default would unload the model five minutes after the last request,
 * behind the agent's back. Requests that pass through are not altered; one that names no `keep_alive` leaves what the
 * load has said. A caller who does name one, and other clients of the same Ollama, can still make it unload: that is
 * seen at the next look, and told.
 */
export class AttachedHolder implements Holder {
  readonly #engines: ReadonlyMap<string, AttachedEngine>;
  readonly #deps: AttachedHolderDeps;
  /** One for each engine: it may have authorities of its own. */
  readonly #dispatchers: readonly ReturnType<typeof createPollAgent>[];

  /** `configured`: the models of the configuration, whose names no engine's model can have. */
  constructor(config: AgentConfig, configured: readonly ServedModel[], deps: AttachedHolderDeps) {
    const { news, clock, log } = deps;
    const claims = new NameClaims(configured);
    const shared = { claims, news, clock, log, timeoutMs: config.swap.timeout };
    this.#deps = deps;
    this.#dispatchers = config.engines.map(({ ca }) => createPollAgent(ca));
    this.#engines = new Map(
      config.engines.map((engine, i) => {
        const dispatcher = this.#dispatchers[i] ?? createPollAgent();
        return [engine.url, new AttachedEngine(engine, { ...shared, dispatcher })];
      }),
    );
  }

  /**
   * Looks at every engine once, and from then on again and again. Resolves when all were seen, at the latest after 5
   * seconds; an engine that shows its list later is told by `onModels` all the same. Ask `found` after it.
   */
  async start(): Promise<void> {
    const limit = pause(START_MS, this.#deps.clock);
    let before: Promise<unknown> = Promise.resolve();
    for (const engine of this.#engines.values()) before = engine.begin(Promise.race([before, limit]));
    await Promise.race([before, limit]);
  }

  load(model: ServedModel, _previous: string | null, signal: AbortSignal): Promise<HeldResult> {
    return this.#order(model, signal, async (order) => {
      const { residency, models } = order.engine;
      // What nothing but this load could unload is gone from now on, whatever becomes of the load.
      for (const other of models) {
        const replaced = other.leaves === "replaced" && other.name !== model.name && residency.isLoaded(other.name);
        if (!replaced) continue;
        residency.told(other.name, false);
        this.#deps.news.onLost(other.name, `its engine loads ${model.name} in its place`);
      }
      const failure = await load(order);
      return { failure, loaded: failure === null };
    });
  }

  unload(model: ServedModel, signal: AbortSignal): Promise<HeldResult> {
    return this.#order({ ...model, timeoutMs: Math.min(model.timeoutMs, UNLOAD_MS) }, signal, async (order) => {
      const failure = await unload(order);
      return { failure, loaded: failure === null ? false : null };
    });
  }

  /** Where the engine cannot tell, a model that the agent loaded counts as ready. */
  async isReady(model: ServedModel, signal: AbortSignal): Promise<boolean> {
    const engine = this.#engineOf(model);
    if (engine === undefined) return false;
    const state = stateIn(await look(this.#orderOf(engine, model, LOOK_MS, signal)), model);
    if (state === "unknown") return engine.residency.isLoaded(model.name);
    engine.residency.told(model.name, state === "warm");
    return state === "warm";
  }

  /** By the first look at each engine; it loads nothing and waits for nothing. */
  found(models: readonly ServedModel[]): Promise<ServedModel[]> {
    const loaded = new Set(
      [...this.#engines.values()].flatMap((engine) => engine.foundLoaded()).map(({ name }) => name),
    );
    return Promise.resolve(models.filter(({ name, heldBy }) => heldBy.kind === "engine" && loaded.has(name)));
  }

  /** By the engine's last list, after a fresh look. */
  async facts(model: ServedModel, signal: AbortSignal): Promise<EngineFacts> {
    const engine = this.#engineOf(model);
    if (engine === undefined) return { engine: null, contextLength: null };
    await look(this.#orderOf(engine, model, LOOK_MS, signal));
    return { engine: engine.engine, contextLength: engine.listed(model)?.contextLength ?? null };
  }

  lost(model: ServedModel): void {
    this.#engineOf(model)?.residency.told(model.name, false);
  }

  /** Each engine, for `/health`. */
  status(): EngineStatus[] {
    return [...this.#engines.values()].map(({ config, engine, trouble }) => {
      return { url: config.url, engine, state: trouble ?? (engine === null ? "not seen yet" : "up") };
    });
  }

  /** Looks no more; every engine stays as it is. */
  async close(): Promise<void> {
    for (const engine of this.#engines.values()) engine.stop();
    await Promise.all(this.#dispatchers.map((dispatcher) => dispatcher.destroy()));
  }

  async #order(
    model: ServedModel,
    signal: AbortSignal,
    run: (order: Order) => Promise<{ failure: Failure; loaded: boolean | null }>,
  ): Promise<HeldResult> {
    const engine = this.#engineOf(model);
    if (engine === undefined) return { ok: false, reason: `no engine is attached at ${model.url}`, tail: "" };
    engine.residency.begin(model.name);
    const { failure, loaded } = await run(this.#orderOf(engine, model, model.timeoutMs, signal)).catch(
      (error: unknown) => ({ failure: String(error), loaded: null }),
    );
    engine.residency.end(model.name, loaded);
    return failure === null ? { ok: true, tail: "" } : { ok: false, reason: failure, tail: "" };
  }

  #engineOf({ heldBy }: ServedModel): AttachedEngine | undefined {
    return heldBy.kind === "engine" ? this.#engines.get(heldBy.url) : undefined;
  }

  #orderOf(engine: AttachedEngine, model: ServedModel, limitMs: number, signal: AbortSignal): Order {
    const { asker, clock } = this.#deps;
    return { engine, model, asker, clock, deadline: clock.now() + limitMs, signal };
  }
}
