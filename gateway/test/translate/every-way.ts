import { type Api, FarmError } from "@farmgate/shared";
import type { Translated } from "../../src/translate/translation.ts";
import { translatorTo, waysOf } from "../../src/translate/ways.ts";
import { CONTEXT } from "../support/translate.ts";
import { REQUESTS } from "./samples.ts";

interface Way {
  from: Api;
  name: string;
  body: Record<string, unknown>;
  put: (body: Record<string, unknown>) => Translated;
  /** The body as it is put. */
  translated: Translated;
}

/** Each sample by each way that takes it. */
export const EVERY_WAY: readonly Way[] = Object.entries(REQUESTS).flatMap(([api, bodies]) => {
  const from = api as Api;
  return waysOf(from)
    .slice(1)
    .flatMap((to) =>
      bodies.flatMap((body, i) => {
        const put = (asked: Record<string, unknown>) => {
          const translator = translatorTo(from, to);
          if (translator === null) throw new Error(`nothing puts ${from} as ${to}`);
          return translator(asked, CONTEXT);
        };
        const translated = takenOrNull(() => put(body));
        return translated === null ? [] : [{ from, name: `${to} (${i})`, body, put, translated }];
      }),
    );
});

/** null: it is refused, as what this way cannot do. */
function takenOrNull(put: () => Translated): Translated | null {
  try {
    return put();
  } catch (error) {
    if (error instanceof FarmError && error.code === "not_supported") return null;
    throw error;
  }
}
