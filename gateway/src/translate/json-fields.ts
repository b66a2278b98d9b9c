import type { JsonObject } from "./translation.ts";

/** What another program sent, field by field: each of these takes anything, and gives an empty value for what is not its kind. */
export function objectOf(value: unknown): JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
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

/** The fields of these names that the object has, by their new names; null counts as not given. */
export function pick(from: JsonObject, names: Readonly<Record<string, string>>): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const [name, as] of Object.entries(names)) {
    if (from[name] !== undefined && from[name] !== null) picked[as] = from[name];
  }
  return picked;
}
