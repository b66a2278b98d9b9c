import { nameKey } from "@farmgate/shared";
import type { ServedModel } from "@farmgate/worker-agent";
import type { HostedModel } from "./farm.ts";

/** The models of an agent in virtual time. */
export class HostedModels {
  readonly served: readonly ServedModel[];
  readonly #byName: ReadonlyMap<string, HostedModel>;
  /** By `nameKey` of a model's name or alias. */
  readonly #names = new Map<string, string>();

  constructor(models: readonly HostedModel[]) {
    this.served = models.map(({ served }) => served);
    this.#byName = new Map(models.map((model) => [model.served.name, model]));
    for (const { name, aliases } of this.served) {
      for (const spelling of [name, ...aliases]) this.#names.set(nameKey(spelling), name);
    }
  }

  /** By the model's own name. */
  get(name: string): HostedModel | undefined {
    return this.#byName.get(name);
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** The own name of a model that is asked for by this one; as it was asked where no model has it. */
  named(asked: string): string {
    return this.#names.get(nameKey(asked)) ?? asked;
  }

  /** Those that are loaded from the start: of those that replace one another the first alone. */
  loadedAtStart(replaces: (model: ServedModel, victim: ServedModel) => boolean): ServedModel[] {
    let replaceable: ServedModel | null = null;
    const found: ServedModel[] = [];
    for (const { served, loaded } of this.#byName.values()) {
      if (!loaded) continue;
      if (!served.pinned && replaceable !== null && replaces(served, replaceable)) continue;
      if (!served.pinned) replaceable = served;
      found.push(served);
    }
    return found;
  }
}
