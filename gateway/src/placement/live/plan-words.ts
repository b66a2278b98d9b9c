import type { Log } from "@farmgate/wire";
import type { CatalogStore } from "../../catalog/store.ts";
import type { Guarded } from "./guard-actions.ts";
import type { PlacementSettings } from "./settings.ts";

/** Changes of one plan that are said one by one. */
const MOST_SAID = 10;

export interface PlanWordsDeps {
  log: Pick<Log, "info" | "warn">;
  catalog: Pick<CatalogStore, "current">;
}

/** What the log is told of plans. */
export class PlanWords {
  readonly #deps: PlanWordsDeps;
  /** What was said, by when it last came up. */
  readonly #said = new Map<string, number>();

  constructor({ log, catalog }: PlanWordsDeps) {
    this.#deps = { log, catalog };
  }

  /** `before`: of which it was said already. */
  sayWrong(wrong: ReadonlySet<string>, before: ReadonlySet<string>): void {
    for (const key of wrong) {
      if (before.has(key)) continue;
      const model = this.#nameOf(key);
      this.#deps.log.warn({ model }, `placement leaves ${model} alone: what it expects of it is plainly wrong`);
    }
  }

  /**
   * Once for each change: what comes up again and again is said again only after it was away for a while. The first ones
   * of a plan alone: one for hundreds of models would drown all else in the log.
   */
  sayNew(guardeds: readonly Guarded[], { mode, hold }: Pick<PlacementSettings, "mode" | "hold">, now: number): void {
    for (const [text, at] of this.#said) if (now - at > hold) this.#said.delete(text);
    const changes = guardeds.filter(({ action, workers, key, order }) => {
      const text = `${action.kind} ${key} ${workers.join(" to ")} ${order}`;
      const isNew = !this.#said.has(text);
      this.#said.set(text, now);
      return isNew;
    });
    for (const change of changes.slice(0, MOST_SAID)) this.#say(mode, change);
    const more = changes.length - MOST_SAID;
    if (more > 0) this.#deps.log.info({ more }, `and ${more} more changes; GET /farm/placement lists them all`);
  }

  #say(mode: PlacementSettings["mode"], { action, workers, key, ...rest }: Guarded): void {
    const model = this.#nameOf(key);
    const why = "why" in rest ? rest.why : undefined;
    const does = mode === "advise" ? "placement would" : "placement is to";
    this.#deps.log.info({ model, workers, reason: action.reason, not: why }, `${does} ${action.kind} ${model}`);
  }

  #nameOf(key: string): string {
    return this.#deps.catalog.current.union.get(key)?.id ?? key;
  }
}
