import type { Random } from "@farmgate/shared";
import { plainWord } from "./words.ts";

type Schema = Readonly<Record<string, unknown>>;

/** Deeper than this only the required members are made. */
const DEEP = 4;
const DEEPEST = 12;
/** A schema may ask for lists in lists in lists: from here on every value is null. */
const MOST_VALUES = 500;
/** Characters. */
const LONGEST_TEXT = 1_000;

/**
 * A value that fits the usual parts of a JSON schema: type, enum, const, properties, required, items, anyOf,
 * string length, number range, `$ref` into the schema itself. What it does not know it answers with a plain word.
 */
export function valueForSchema(schema: unknown, random: Random): unknown {
  return make(schema, { random, root: asSchema(schema), depth: 0, left: { values: MOST_VALUES } });
}

interface Context {
  random: Random;
  root: Schema;
  depth: number;
  /** Shared by all parts of one answer. */
  left: { values: number };
}

function make(value: unknown, context: Context): unknown {
  const schema = asSchema(value);
  context.left.values -= 1;
  if (context.depth > DEEPEST || context.left.values < 0) return null;
  if (typeof schema["$ref"] === "string") return make(resolve(schema["$ref"], context.root), deeper(context));
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["enum"]) && schema["enum"].length > 0) return pick(schema["enum"], context.random);
  for (const key of ["anyOf", "oneOf"]) {
    const options = schema[key];
    if (Array.isArray(options) && options.length > 0) return make(options[0], deeper(context));
  }
  const type = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  if (type === "object" || (type === undefined && "properties" in schema)) return makeObject(schema, context);
  if (type === "array") return makeArray(schema, context);
  if (type === "integer" || type === "number") return makeNumber(schema, type === "integer", context.random);
  if (type === "boolean") return context.random() < 0.5;
  if (type === "null") return null;
  return makeString(schema, context.random);
}

function makeObject(schema: Schema, context: Context): Record<string, unknown> {
  const properties = asSchema(schema["properties"]);
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const made: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(properties)) {
    if (context.depth < DEEP || required.includes(key)) made[key] = make(member, deeper(context));
  }
  return made;
}

function makeArray(schema: Schema, context: Context): unknown[] {
  const least = Math.max(numberOf(schema["minItems"]) ?? 1, 1);
  const most = Math.max(numberOf(schema["maxItems"]) ?? Number.POSITIVE_INFINITY, 0);
  return Array.from({ length: Math.min(least, most, context.left.values) }, () =>
    make(schema["items"], deeper(context)),
  );
}

function makeNumber(schema: Schema, whole: boolean, random: Random): number {
  const least = numberOf(schema["minimum"]) ?? (numberOf(schema["exclusiveMinimum"]) ?? -1) + 1;
  const most = numberOf(schema["maximum"]) ?? (numberOf(schema["exclusiveMaximum"]) ?? least + 101) - 1;
  const value = least + random() * Math.max(0, most - least);
  return whole ? Math.min(Math.ceil(value), Math.floor(most)) : Math.round(value * 100) / 100;
}

function makeString(schema: Schema, random: Random): string {
  let text = plainWord(random);
  const least = Math.min(numberOf(schema["minLength"]) ?? 0, LONGEST_TEXT);
  while (text.length < least) text += ` ${plainWord(random)}`;
  return text.slice(0, numberOf(schema["maxLength"]) ?? text.length);
}

function resolve(reference: string, root: Schema): unknown {
  let at: unknown = root;
  for (const step of reference.replace(/^#\/?/, "").split("/")) if (step !== "") at = asSchema(at)[step];
  return at;
}

function deeper(context: Context): Context {
  return { ...context, depth: context.depth + 1 };
}

function pick(values: readonly unknown[], random: Random): unknown {
  return values[Math.floor(random() * values.length)];
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function asSchema(value: unknown): Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}
