import { type Clock, formatDuration } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { Switching, SwapEnd, SwapOrder, UnloadEnd } from "./executor.ts";
import type { HeldResult, Holder } from "./holders/holder.ts";
import type { Learned } from "./figures/learned.ts";
import type { AgentSpans } from "./agent-spans.ts";
import type { AgentMetrics } from "./metrics.ts";
import type { ModelBook, ServedModel } from "./served-model.ts";

export interface SwitchContext {
  models: ModelBook;
  holders: Omit<Holder, "found">;
  /** Why a model cannot be loaded, before anything is taken out of memory for it; null: nothing is known against it. */
  missingFor: (model: string) => Promise<string | null>;
  /** Whether the load of the first makes the second go by itself, so that it needs no unload. */
  replaces: (model: ServedModel, victim: ServedModel) => boolean;
  learned: Learned;
  metrics: AgentMetrics;
  /** null: traces are off. */
  spans: Pick<AgentSpans, "swapStarted"> | null;
  clock: Clock;
  log: Log;
}

type Unloaded = { ok: true } | { ok: false; reason: string };

/** Does the scheduler's swaps and unloads by the models' holders, and writes them down. */
export class ModelSwitch implements Switching {
  readonly #context: SwitchContext;

  constructor(context: SwitchContext) {
    this.#context = context;
  }

  /**
   * 0. a model whose files are not here is not tried;
   * 1. each victim is unloaded, unless the load replaces it: one that fails and still answers ends the swap, one that
   *    does not counts as gone;
   * 2. the model is loaded. Where that fails the victims are gone, and with a holder that replaces models by itself
   *    all that it would have replaced.
   */
  async swap({ model: name, previous, victims, reason: why }: SwapOrder, signal: AbortSignal): Promise<SwapEnd> {
    const { models, holders, learned, metrics, spans, clock, log } = this.#context;
    const model = models.named(name);
    if (model === undefined) return { ok: false, reason: `${name} is not served any more`, lost: [] };
    const wasReady = await this.#isReady(model, signal);
    const startedAt = clock.now();
    log.info({ model: name, previous, why }, `loading ${name}`);
    const tellSpans = spans?.swapStarted(previous, name, startedAt);
    const result = await this.#change(model, previous, victims, signal);
    tellSpans?.(result.ok, clock.now());
    const ms = clock.now() - startedAt;
    const line = { model: name, previous, why, ms: Math.round(ms) };
    metrics.swapped(previous, name, result.ok ? "ok" : "failed", ms);
    for (const victim of victims) {
      if (!result.ok && !result.lost.includes(victim)) continue;
      metrics.evicted(victim);
      learned.unloaded(victim, clock.now());
    }
    if (result.ok) {
      learned.loaded({ from: victims[0] ?? null, to: name, ms, wasReady }, clock.now());
      this.#askFacts(model, signal);
      log.info(line, `${name} is loaded after ${formatDuration(ms)}`);
      return { ok: true };
    }
    // It counts as not loaded now. Where it was found loaded meanwhile, by another's doing, that is to be told anew.
    holders.lost(model);
    const { reason, tail, lost } = result;
    log.error({ ...line, error: reason, tail }, `loading ${name} failed`);
    return { ok: false, reason: tail === "" ? reason : `${reason}: ${tail}`, lost };
  }

  async unload(name: string, why: string, signal: AbortSignal): Promise<UnloadEnd> {
    const { models, log } = this.#context;
    const model = models.named(name);
    if (model === undefined) return { ok: true };
    log.info({ model: name, why }, `unloading ${name}`);
    const result = await this.#takeOut(model, signal);
    if (result.ok) this.#context.learned.unloaded(name, this.#context.clock.now());
    return result.ok ? result : { ...result, still: true };
  }

  lost(name: string): void {
    const { models, holders, learned, clock } = this.#context;
    const model = models.named(name);
    if (model === undefined) return;
    holders.lost(model);
    learned.unloaded(name, clock.now());
  }

  /** Whether nothing needs to be done. A model whose only proof is an answer is not asked: that may load it. */
  async #isReady(model: ServedModel, signal: AbortSignal): Promise<boolean> {
    return model.ready !== "generate" && (await this.#context.holders.isReady(model, signal));
  }

  async #change(model: ServedModel, previous: string | null, victims: readonly string[], signal: AbortSignal) {
    const { models, holders, replaces } = this.#context;
    const missing = await this.#context.missingFor(model.name); // (0)
    if (missing !== null) return { ok: false as const, reason: missing, tail: "", lost: [] };
    const gone: string[] = [];
    for (const name of victims) {
      const victim = models.named(name);
      if (victim !== undefined && !replaces(model, victim)) {
        const result = await this.#takeOut(victim, signal); // (1)
        if (!result.ok) return { ...result, tail: "", lost: gone };
      }
      gone.push(name);
    }
    const result: HeldResult = await holders.load(model, previous, signal); // (2)
    if (result.ok) return result;
    const replaced = models.models.filter(
      (other) => other.name !== model.name && !other.pinned && replaces(model, other),
    );
    return { ...result, lost: [...new Set([...gone, ...replaced.map(({ name }) => name)])] };
  }

  /** Not ok: the model still answers. */
  async #takeOut(model: ServedModel, signal: AbortSignal): Promise<Unloaded> {
    const { holders, log } = this.#context;
    const result = await holders.unload(model, signal);
    if (result.ok) return { ok: true };
    const still = await holders.isReady(model, signal);
    log.warn({ model: model.name, error: result.reason, tail: result.tail, still }, `unloading ${model.name} failed`);
    return still ? { ok: false, reason: `${model.name} was not unloaded: ${result.reason}` } : { ok: true };
  }

  #askFacts(model: ServedModel, signal: AbortSignal): void {
    const { holders, learned } = this.#context;
    void holders.facts(model, signal).then((facts) => learned.told(model.name, facts));
  }
}
