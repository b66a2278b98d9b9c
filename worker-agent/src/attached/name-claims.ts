import { nameKey } from "@farmgate/shared";
import type { ServedModel } from "../served-model.ts";

/** A model or alias that is left out: its name belongs to something else already. */
export interface Clash {
  spelling: string;
  /** In words: "a model of the configuration", "a model of http://..." */
  owner: string;
}

const CONFIGURED = "a model of the configuration";

/**
 * Which names are whose, over the configured models and those of all attached engines. What has a name keeps it for
 * as long as it is there, so that no list that changes takes a model away from under its requests.
 */
export class NameClaims {
  readonly #configured: ReadonlySet<string>;
  readonly #byEngine = new Map<string, ReadonlySet<string>>();

  constructor(configured: readonly ServedModel[]) {
    this.#configured = new Set(configured.flatMap((model) => [model.name, ...model.aliases]).map(nameKey));
  }

  /**
   * The engine's whole list, in place of what it had claimed before: names first, then aliases. A model whose name is
   * taken is left out, a taken alias is left off.
   */
  claim(url: string, models: readonly ServedModel[]): { kept: ServedModel[]; clashes: Clash[] } {
    const own = new Set<string>();
    const clashes: Clash[] = [];
    const take = (spelling: string): boolean => {
      const key = nameKey(spelling);
      const owner = own.has(key) ? `a model of ${url}` : this.#ownerBeside(url, key);
      if (owner === null) own.add(key);
      else clashes.push({ spelling, owner });
      return owner === null;
    };
    const named = models.filter((model) => take(model.name));
    const kept = named.map((model) => {
      const aliases = model.aliases.filter((alias) => nameKey(alias) !== nameKey(model.name) && take(alias));
      return { ...model, aliases };
    });
    this.#byEngine.set(url, own);
    return { kept, clashes };
  }

  #ownerBeside(url: string, key: string): string | null {
    if (this.#configured.has(key)) return CONFIGURED;
    for (const [other, names] of this.#byEngine) if (other !== url && names.has(key)) return `a model of ${other}`;
    return null;
  }
}
