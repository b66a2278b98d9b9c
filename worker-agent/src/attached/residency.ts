import type { ModelState } from "@farmgate/shared";

/** A model that the agent took for loaded is not; `reason` reads on after its name. */
export interface LostModel {
  model: string;
  reason: string;
}

/**
 * Which models of one attached engine the agent takes for loaded, and what a look at the engine changes of that.
 * A look tells of the moment at which it was made, which may be over: it says nothing of a model
 *
 * 1. whose load or unload by the agent is under way, or
 * 2. whose last load or unload ended after the look had begun, or
 * 3. whose state the engine does not know,
 *
 * and (4) nothing of any model when a later look has been taken in already.
 * For the rest the engine is right: what it has loaded is found, what it has not is lost.
 */
export class Residency {
  readonly #loaded = new Set<string>();
  /** Of these, the ones that were loading when the agent came, and have not been seen loaded yet. */
  readonly #arriving = new Set<string>();
  /** Loads and unloads under way, by model. */
  readonly #underWay = new Map<string, number>();
  /** The mark of the last change by the agent, by model. */
  readonly #changedAt = new Map<string, number>();
  /** Counts looks and changes, so that each pair of them has an order. */
  #marks = 0;
  /** The newest look that was taken in. */
  #taken = 0;

  isLoaded(model: string): boolean {
    return this.#loaded.has(model);
  }

  /** Those that the agent takes for loaded, in the order in which they came. */
  loaded(): string[] {
    return [...this.#loaded];
  }

  /** A look begins; what it brings goes to `seen` or `gone` with this mark. */
  look(): number {
    this.#marks += 1;
    return this.#marks;
  }

  /** A load or unload of the model begins. */
  begin(model: string): void {
    this.#underWay.set(model, (this.#underWay.get(model) ?? 0) + 1);
  }

  /** It has ended; `loaded` null: without telling, so that the model counts as it did before. */
  end(model: string, loaded: boolean | null): void {
    const left = (this.#underWay.get(model) ?? 1) - 1;
    if (left === 0) this.#underWay.delete(model);
    else this.#underWay.set(model, left);
    this.told(model, loaded ?? this.#loaded.has(model));
  }

  /** The agent learned it in another way than by a look. */
  told(model: string, loaded: boolean): void {
    this.#changedAt.set(model, this.look());
    this.#arriving.delete(model);
    if (loaded) this.#loaded.add(model);
    else this.#loaded.delete(model);
  }

  /** It was loading before the agent came, and has its memory already: it counts as loaded for as long as it loads. */
  arriving(model: string): void {
    this.told(model, true);
    this.#arriving.add(model);
  }

  /** What a look brought: the state of each model that the engine lists. */
  seen(mark: number, states: ReadonlyMap<string, ModelState>): { found: string[]; lost: LostModel[] } {
    const found: string[] = [];
    for (const [model, state] of states) {
      if (state !== "warm" || this.#loaded.has(model) || !this.#mayTell(mark, model)) continue;
      this.#loaded.add(model);
      found.push(model);
    }
    const lost = this.#lose(mark, (model) => {
      const state = states.get(model);
      if (state === undefined) return "its engine does not list it any more";
      if (state === "loading" && this.#arriving.has(model)) return null;
      if (state === "warm") this.#arriving.delete(model);
      return state === "warm" || state === "unknown" ? null : "its engine has unloaded it";
    });
    return { found, lost };
  }

  /** A look met no engine: nothing is loaded there. */
  gone(mark: number): LostModel[] {
    return this.#lose(mark, () => "its engine is gone");
  }

  #lose(mark: number, reasonFor: (model: string) => string | null): LostModel[] {
    const lost: LostModel[] = [];
    for (const model of this.#loaded) {
      const reason = this.#mayTell(mark, model) ? reasonFor(model) : null;
      if (reason === null) continue;
      this.#loaded.delete(model);
      lost.push({ model, reason });
    }
    this.#taken = Math.max(this.#taken, mark);
    // By (4) no look that began before these changes tells anything any more.
    for (const [model, at] of this.#changedAt) if (at < mark) this.#changedAt.delete(model);
    return lost;
  }

  /** (1), (2) and (4). */
  #mayTell(mark: number, model: string): boolean {
    return mark >= this.#taken && !this.#underWay.has(model) && mark > (this.#changedAt.get(model) ?? 0);
  }
}
