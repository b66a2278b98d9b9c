import { z } from "zod";
import { closeNames } from "../model-name.ts";

const KINDS: Readonly<Record<string, string>> = {
  object: "keys with values",
  record: "keys with values",
  array: "a list",
  string: "a text",
  number: "a number",
  boolean: "true or false",
};

/**
 * What is wrong, in the words of a configuration file, where the schema has no message of its own. For unknown keys
 * it is one line for each, in their order.
 */
export const configMessage: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === "invalid_type") {
    return issue.input === undefined ? "is missing" : `must be ${KINDS[issue.expected] ?? issue.expected}`;
  }
  if (issue.code === "invalid_value") return `must be one of ${issue.values.map(String).join(", ")}`;
  if (issue.code !== "unrecognized_keys") return undefined;
  const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
  return issue.keys.map((key) => unknownKey(key, known)).join("\n");
};

function unknownKey(key: string, known: readonly string[]): string {
  const [close] = closeNames(key, known, 1);
  return close === undefined ? "unknown key" : `unknown key; did you mean ${close}?`;
}
