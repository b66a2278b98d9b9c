import type { EngineName } from "@farmgate/engines";
import { fadingMax, mean } from "./means.ts";
import { type LoadDone, LoadTimes } from "./load-times.ts";
import type { AnswerFigures } from "../serve/answer-figures.ts";
import { type HostMemory, PageCache } from "./page-cache.ts";
import type { EngineFacts } from "../swap/engine-list.ts";

/** What an agent has learned about one model by using it; null while unknown. Times in milliseconds. */
export interface LearnedFigures {
  /** The longest load seen. */
  readonly longestLoadMs: number | null;
  /** Mean of an answer, from the grant to its end. */
  readonly serviceMs: number | null;
  readonly promptTokensPerSecond: number | null;
  readonly tokensPerSecond: number | null;
  /** Which engine serves it. */
  readonly engine: EngineName | null;
  /** Tokens that one request gets. */
  readonly contextLength: number | null;
}

/** Models come and go; beyond this many the first one learned of is forgotten. */
const MAX_MODELS = 1_000;

type Figures = { -readonly [K in keyof LearnedFigures]: LearnedFigures[K] };

const NOTHING: LearnedFigures = {
  longestLoadMs: null,
  serviceMs: null,
  promptTokensPerSecond: null,
  tokensPerSecond: null,
  engine: null,
  contextLength: null,
};

/**
 * Load times, answer times and token speeds as exponentially weighted means (EWMA), per model and by its configured
 * name. An entry comes with the first figure. Failed loads tell nothing. `now` is on the clock of the scheduler.
 */
export class Learned {
  readonly #figures = new Map<string, Figures>();
  readonly #cache: PageCache;
  readonly #loads: LoadTimes;
  #longestAnswerMs = 0;
  /** Duration of the last swap of any model that succeeded, in milliseconds. */
  lastSwapMs: number | null = null;

  /** `host` null: sizes of models are not known. */
  constructor(host: HostMemory | null = null) {
    this.#cache = new PageCache(host);
    this.#loads = new LoadTimes(this.#cache);
  }

  of(model: string): LearnedFigures {
    return this.#figures.get(model) ?? NOTHING;
  }

  /** The longest answer seen of any model, granted to ended; it fades with newer answers. 0: none was seen. */
  get longestAnswerMs(): number {
    return this.#longestAnswerMs;
  }

  /** How long a load of `to` over `from` takes that begins now; null: not known. */
  loadMs(to: string, from: string | null, now: number): number | null {
    return this.#loads.expect(to, from, now);
  }

  /** Whether a load that begins now would come from the page cache, as far as can be told. */
  isWarm(model: string, now: number): boolean {
    return this.#cache.has(model, now);
  }

  loaded(load: LoadDone, now: number): void {
    this.#loads.loaded(load, now);
    this.lastSwapMs = load.ms;
    if (load.wasReady) return;
    const figures = this.#entry(load.to);
    figures.longestLoadMs = Math.max(figures.longestLoadMs ?? 0, load.ms);
  }

  /** Loaded already, by whomever, or its files came just now: they are in the page cache either way. */
  found(model: string, now: number): void {
    this.#cache.read(model, now);
  }

  /** Taken out of memory; its files are in the page cache for a while. */
  unloaded(model: string, now: number): void {
    this.#cache.left(model, now);
  }

  /** What its engine told; of what it did not tell the last word stands. */
  told(model: string, { engine, contextLength }: EngineFacts): void {
    const figures = this.#entry(model);
    figures.engine = engine ?? figures.engine;
    figures.contextLength = contextLength ?? figures.contextLength;
  }

  /** An answer ended `ms` after its grant. One that did not end well held its slot as long, but is no measure. */
  answered(model: string, answer: { ms: number; ok: boolean; figures: AnswerFigures }): void {
    this.#longestAnswerMs = fadingMax(this.#longestAnswerMs, answer.ms);
    if (!answer.ok) return;
    const figures = this.#entry(model);
    const { promptTokensPerSecond, tokensPerSecond } = answer.figures;
    figures.serviceMs = mean(figures.serviceMs, answer.ms);
    if (promptTokensPerSecond !== null) {
      figures.promptTokensPerSecond = mean(figures.promptTokensPerSecond, promptTokensPerSecond);
    }
    if (tokensPerSecond !== null) figures.tokensPerSecond = mean(figures.tokensPerSecond, tokensPerSecond);
  }

  #entry(model: string): Figures {
    let figures = this.#figures.get(model);
    if (figures === undefined) {
      figures = { ...NOTHING };
      this.#figures.set(model, figures);
      const [first] = this.#figures.keys();
      if (this.#figures.size > MAX_MODELS && first !== undefined) this.#figures.delete(first);
    }
    return figures;
  }
}
