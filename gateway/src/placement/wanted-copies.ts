import { type NameRules, resolveName } from "../routing/resolve-name.ts";

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
    const { key, name } = resolveName(asked, rules);
    return { key, name, copies };
  });
}
