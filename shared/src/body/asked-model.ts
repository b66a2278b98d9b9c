import { type Api, apiForm } from "../apis.ts";
import { findQueryModel } from "../query-model.ts";
import { unroutable } from "../unroutable.ts";

/** llama.cpp's own paths: a server of it has mostly one model, which its clients do not name. */
const NEEDS_NO_NAME: ReadonlySet<Api> = new Set(["completion", "infill", "tokenize", "detokenize", "apply-template"]);

/** The message lists no more. */
const LISTED = 10;

/**
 * The model that a request names, as its caller spells it; null: see `onlyModel`. `inBody` is the body's own, `target`
 * the request's path with query. Throws `invalid_request`.
 * 1. The body's own counts, whatever else is said.
 * 2. Where the body is a form, and on llama.cpp's own paths, clients may name it in the query (`?model=`).
 * 3. On llama.cpp's own paths they may leave it to the server.
 */
export function namedModel(api: Api, inBody: string | null, target: string): string | null {
  if (inBody !== null) return inBody; // 1
  const { body } = apiForm(api);
  if (body === "form" || NEEDS_NO_NAME.has(api)) {
    const inQuery = findQueryModel(target)?.model ?? null; // 2
    if (inQuery !== null || NEEDS_NO_NAME.has(api)) return inQuery; // 3
    throw unroutable("neither the body nor the query has a `model`", "model");
  }
  throw unroutable("the body has no `model`", "model");
}

/**
 * The model for a request that names none: the only one there is. `served` are those that this caller may use and that
 * are served where the API is spoken. Throws `invalid_request`, with their names where there are several.
 */
export function onlyModel(served: readonly string[]): string {
  const [only, ...others] = served;
  if (only !== undefined && others.length === 0) return only;
  if (only === undefined)
    throw unroutable("the body has no `model`, and none is served here that can be asked so", "model");
  const names = served.slice(0, LISTED).map((name) => JSON.stringify(name));
  const more = served.length > LISTED ? ` and ${served.length - LISTED} more` : "";
  throw unroutable(`the body has no \`model\`, and several can be asked so: ${names.join(", ")}${more}`, "model");
}
