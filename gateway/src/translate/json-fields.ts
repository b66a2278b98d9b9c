import type { JsonObject } from "./translation.ts";

/** What another program sent, field by field: each of these takes anything, and gives an empty value for what is not its kind. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** null for what is no finite number. */
export function numberOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** null for what counts nothing: no whole number from 0 on, or one that is too great to be true. */
export function countOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null;
}

/** Whether it could not be written as JSON again; a text inside of a request may hold what the request itself may not. */
export function nestsTooDeep(value: unknown, levels = 500): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => nestsTooDeep(inner, levels - 1));
}

/** The fields of these names that the object has, by their new names; null counts as not given. */
export function pick(from: JsonObject, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const [name, as] of Object.entries(names)) {
    if (from[name] !== undefined && from[name] !== null) picked[as] = from[name];
  }
  return picked;
}
