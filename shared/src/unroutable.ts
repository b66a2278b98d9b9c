import { FarmError } from "./errors.ts";

/** 400 for a request of which it cannot be told which model it is for. `param`: the field at fault; null: none alone. */
export function unroutable(why: string, param: string | null = null): FarmError {
  return new FarmError("invalid_request", `The request cannot be routed: ${why}.`, param === null ? {} : { param });
}
