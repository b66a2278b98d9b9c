import type { RoutingRequest } from "../routing/types.ts";

/** Requests that the same workers can serve; what was tried before counts, and so does what it is held to since. */
export function groupOf({ key, api, only, held }: RoutingRequest, tried: Iterable<string>): string {
  const copy = held === null ? [] : [held.digest, held.quantization, held.context];
  return [key, api, only, ...copy, ...tried].join("\n");
}
