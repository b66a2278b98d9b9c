import { MAX_MODEL_NAME } from "./model-name.ts";
import { unroutable } from "./unroutable.ts";

/** Where the query of a request target names the model. */
export interface QueryModel {
  model: string;
  /** Of its value, as it stands there. */
  start: number;
  end: number;
}

/** Reads `?model=` of a request target that needs one. Throws `invalid_request`. */
export function queryModel(target: string): QueryModel {
  const found = maybeQueryModel(target);
  if (found === null) throw unroutable("its address needs the model, as in ?model=NAME", "model");
  return found;
}

/** Reads `?model=` of a request target; null: none, or empty. Throws `invalid_request` for two, or for no good name. */
export function maybeQueryModel(target: string): QueryModel | null {
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
  if (first === undefined) return null;
  if (found.length > 1) throw unroutable("its address names two models", "model");
  if (first.model.length > MAX_MODEL_NAME) {
    throw unroutable(`\`model\` must not be longer than ${MAX_MODEL_NAME} characters`, "model");
  }
  return first.model === "" ? null : first;
}

/** The same target with another model: that value changes, nothing else. */
export function replaceQueryModel(target: string, { model, start, end }: QueryModel, other: string): string {
  return other === model ? target : target.slice(0, start) + encodeURIComponent(other) + target.slice(end);
}

function decoded(text: string): string {
  const spaced = text.replaceAll("+", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced;
  }
}
