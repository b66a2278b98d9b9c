import { parseJson } from "@farmgate/shared";
import { isObject } from "../json-fields.ts";
import type { JsonObject } from "../translation.ts";

/** The arguments of a call, of their JSON text; null: it is no object. Where there are none, some write nothing or null. */
export function argumentsOf(text: string): JsonObject | null {
  if (text.trim() === "") return {};
  const args = parseJson(text);
  if (args === null) return {};
  return isObject(args) ? args : null;
}
