import { FarmError } from "@farmgate/shared";
import type { z } from "zod";
import type { JsonObject } from "../translation.ts";

/** A request's fields. Throws `invalid_request`, which names the field and never quotes what stands in it. */
export function readRequest<T extends z.ZodType>(schema: T, body: JsonObject): z.output<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const param = issue?.path.join(".") ?? "";
  throw new FarmError("invalid_request", `The field \`${param}\` is wrong: ${issue?.message ?? "not valid"}.`, {
    param,
  });
}
