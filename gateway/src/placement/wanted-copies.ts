import { nameKey } from "@farmgate/shared";
import type { Catalog } from "../catalog/types.ts";
import { aliasMeaning, type NameRules, ownersName } from "../routing/resolve-name.ts";

/** A model of which the owner wants warm copies (`models.keepWarm`). */
export interface WantedCopies {
  /** `nameKey` of the catalogue name. */
  key: string;
  /** The catalogue name. */
  name: string;
  /** On as many workers. */
  copies: number;
}

/** Reads `models.keepWarm`, whose names may be the owner's aliases; in the order of the file. */
export function wantedCopies(keepWarm: Readonly<Record<string, number>>, rules: NameRules): readonly WantedCopies[] {
  return Object.entries(keepWarm).map(([asked, copies]) => {
    const name = ownersName(asked, rules);
    return { key: nameKey(name), name, copies };
  });
}

/** The same with the aliases of workers replaced by the models that they stand for now. */
export function meantCopies(
  wanted: readonly WantedCopies[],
  catalog: Pick<Catalog, "aliases">,
): readonly WantedCopies[] {
  if (!wanted.some(({ key }) => catalog.aliases.has(key))) return wanted;
  return wanted.map((want) => {
    const meant = aliasMeaning(want.key, catalog);
    return meant === null ? want : { key: meant.key, name: meant.id, copies: want.copies };
  });
}
