import { FarmError, parseJson } from "@farmgate/shared";
import type { z } from "zod";

/** The body of a request, by its schema. Throws `invalid_request`, which for a body that is no JSON shows `example`. */
export function readJson<S extends z.ZodType>(schema: S, body: string | undefined, example: string): z.output<S> {
  const value = parseJson(body ?? "");
  if (typeof value !== "object" || value === null) {
    throw new FarmError("invalid_request", `Expected a JSON object such as ${example}.`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const param = issue?.path.join(".") ?? "";
  const message = `${param === "" ? "The body" : param}: ${issue?.message ?? "is not valid"}.`;
  throw new FarmError("invalid_request", message, param === "" ? {} : { param });
}
