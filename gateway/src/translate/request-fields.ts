import { FarmError } from "@farmgate/shared";
import { isObject } from "./json-fields.ts";
import type { JsonObject } from "./translation.ts";

/** The error for a request that is wrong in its own API; `at` names the field, as `messages.0.content` does. */
export function wrong(at: string, what: string): FarmError {
  return new FarmError("invalid_request", `${at}: ${what}`, { param: at });
}

/** The error for what the other API has no form for; `what` is a whole sentence that says what to do instead. */
export function lacking(at: string, what: string): FarmError {
  return new FarmError("not_supported", `${at}: ${what}`, { param: at });
}

export function objectAt(value: unknown, at: string): JsonObject {
  if (isObject(value)) return value;
  throw wrong(at, "expected an object.");
}

export function listAt(value: unknown, at: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw wrong(at, "expected a list.");
}

export function textAt(value: unknown, at: string): string {
  if (typeof value === "string") return value;
  throw wrong(at, "expected a string.");
}

/** A text that is not empty. */
export function nameAt(value: unknown, at: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw wrong(at, "expected a name.");
}

/** As `listAt`, where none need be given. */
export function listOrNoneAt(value: unknown, at: string): readonly unknown[] {
  return value === undefined || value === null ? [] : listAt(value, at);
}

/** What a caller calls the kind of a thing, for an error; it may be anything. */
export function kindOf(type: unknown): string {
  return typeof type === "string" ? `"${type.slice(0, 60)}"` : "no text";
}
