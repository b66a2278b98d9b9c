import { MAX_MODEL_NAME } from "./model-name.ts";
import { unroutable } from "./unroutable.ts";

/** Where the query of a request target names the model. */
export interface QueryModel {
  model: string;
  /** Of its value, as it stands there. */
  start: number;
  end: number;
}

/** Reads `?model=` of a request target. Throws `invalid_request` when there is none, two of them, or no good name. */
export function queryModel(target: string): QueryModel {
  const found = findQueryModel(target);
  if (found === null) throw unroutable("its address needs the model, as in ?model=NAME", "model");
  return found;
}

/** The same, for a path that may name it elsewhere. null: there is none, or an empty one. */
export function findQueryModel(target: string): QueryModel | null {
  const found: QueryModel[] = [];
  let at = target.indexOf("?") + 1;
  while (at > 0 && at <= target.length) {
    const next = target.indexOf("&", at);
    const end = next < 0 ? target.length : next;
    const equals = target.indexOf("=", at);
    const start = equals < 0 || equals > end ? end : equals + 1;
    if (decoded(target.slice(at, Math.max(at, start - 1))) === "model") {
      found.push({ model: decoded(target.slice(start, end)), start, end });
    }
    at = next < 0 ? 0 : next + 1;
  }
  const [first] = found;
  if (first === undefined || (first.model === "" && found.length === 1)) return null;
  if (found.length > 1) throw unroutable("its address names two models", "model");
  if (first.model.length > MAX_MODEL_NAME)
    throw unroutable(`a model's name has at most ${MAX_MODEL_NAME} characters`, "model");
  return first;
}

/** The same target with another model: that value changes, nothing else. */
export function replaceQueryModel(target: string, { model, start, end }: QueryModel, other: string): string {
  return other === model ? target : target.slice(0, start) + encodeURIComponent(other) + target.slice(end);
}

/** As every reader of queries has it, so that the worker finds the same name, also where it is not well encoded. */
function decoded(text: string): string {
  return new URLSearchParams(`text=${text}`).get("text") ?? "";
}
