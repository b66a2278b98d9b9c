import type { IncomingHttpHeaders } from "node:http";
import { isAllowedOrigin } from "@farmgate/shared";

const EXPOSED =
  "x-request-id, request-id, retry-after, x-should-retry, " +
  "x-farmgate-worker, x-farmgate-model, x-farmgate-warmth, x-farmgate-attempts, x-farmgate-decision, " +
  "x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests";

const NONE: readonly string[] = [];

/** The CORS headers of an answer, flat; none for a request that comes from no page, or from a page not allowed. */
export function corsHeaders(origin: string | undefined, origins: readonly string[]): readonly string[] {
  if (origin === undefined) return NONE;
  if (!isAllowedOrigin(origin, origins)) return ["vary", "Origin"];
  return ["access-control-allow-origin", origin, "access-control-expose-headers", EXPOSED, "vary", "Origin"];
}

const METHODS = "GET, HEAD, POST, DELETE, OPTIONS";

/** What the answer to OPTIONS adds. For a preflight, the headers that the page wants to send are allowed as asked. */
export function preflightHeaders(headers: IncomingHttpHeaders, origins: readonly string[]): string[] {
  const { origin } = headers;
  if (origin === undefined || !isAllowedOrigin(origin, origins)) return ["allow", METHODS];
  const asked = headers["access-control-request-headers"] ?? "";
  const names = asked
    .split(",")
    .map((name) => name.trim())
    .filter((name) => /^[\w!#$%&'*+.^`|~-]{1,100}$/.test(name));
  const answer = ["allow", METHODS, "access-control-allow-methods", METHODS, "access-control-max-age", "600"];
  if (names.length > 0) answer.push("access-control-allow-headers", names.join(", "));
  if (headers["access-control-request-private-network"] === "true") {
    answer.push("access-control-allow-private-network", "true");
  }
  return answer;
}
