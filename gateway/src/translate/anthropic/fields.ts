import { FarmError } from "@farmgate/shared";
import type { JsonObject } from "../translation.ts";

/** The error for a request that is wrong in its own API; `at` names the field, as `messages.0.content` does. */
export function wrong(at: string, what: string): FarmError {
  return new FarmError("invalid_request", `${at}: ${what}`, { param: at });
}

/** The error for what chat has no form for; `what` is a whole sentence that says what to do instead. */
export function lacking(at: string, what: string): FarmError {
  return new FarmError("not_supported", `${at}: ${what}`, { param: at });
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
