import type { ServedModel } from "./served-model.ts";

/** How much the newest value counts. */
const WEIGHT = 0.3;

/** What an agent has learned about one model by using it; null while unknown. */
export interface LearnedFigures {
  loadMs: number | null;
  tokensPerSecond: number | null;
  /** Which engine serves it. */
  engine: string | null;
  /** Tokens that one request gets. */
  contextLength: number | null;
}

const NOTHING: LearnedFigures = { loadMs: null, tokensPerSecond: null, engine: null, contextLength: null };

/** Load times and token speeds as exponentially weighted means (EWMA), one of each per model. */
export class Learned {
  readonly #figures: ReadonlyMap<string, LearnedFigures>;
  /** Duration of the last swap of any model that succeeded, in milliseconds. */
  lastSwapMs: number | null = null;

  constructor(models: readonly ServedModel[]) {
    this.#figures = new Map(models.map((model) => [model.name, { ...NOTHING }]));
  }

  of(model: string): LearnedFigures {
    return this.#figures.get(model) ?? { ...NOTHING };
  }

  loaded(model: string, ms: number): void {
    const figures = this.of(model);
    figures.loadMs = mean(figures.loadMs, ms);
    this.lastSwapMs = ms;
  }

  told(model: string, facts: Pick<LearnedFigures, "engine" | "contextLength">): void {
    Object.assign(this.of(model), facts);
  }

  spoke(model: string, tokensPerSecond: number): void {
    const figures = this.of(model);
    figures.tokensPerSecond = mean(figures.tokensPerSecond, tokensPerSecond);
  }
}

function mean(before: number | null, value: number): number {
  return before === null ? value : before + WEIGHT * (value - before);
}
