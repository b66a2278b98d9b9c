/** Header names that gateway and agent set or read, all lower case. */
export const HEADER = {
  requestId: "x-request-id",
  worker: "x-farmgate-worker",
  model: "x-farmgate-model",
  warmth: "x-farmgate-warmth",
  attempts: "x-farmgate-attempts",
  priority: "x-farmgate-priority",
  deadlineMs: "x-farmgate-deadline-ms",
  dryRun: "x-farmgate-dry-run",
  caller: "x-farmgate-caller",
  hop: "x-farmgate-hop",
} as const;

const HOP_BY_HOP: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** A caller's own credentials and address, and what a proxy writes anew. */
const NOT_FOR_WORKERS: ReadonlySet<string> = new Set([
  "authorization",
  "x-api-key",
  "cookie",
  "host",
  "content-length",
  "expect",
  "accept-encoding",
  "x-request-id",
  // llama-server keeps generating after a disconnect when it sees this one.
  "x-conversation-id",
]);

/**
 * The caller's headers that a worker may see, as a flat [name, value, ...] list in their order.
 * `raw` is node's `rawHeaders`. Hop-by-hop headers (also those named by Connection), credentials and
 * `x-farmgate-*` are left out; the caller's Accept-Encoding too, since a compressed stream hides its usage.
 */
export function requestHeadersForWorker(raw: readonly string[]): string[] {
  return filterHeaders(raw, (name) => NOT_FOR_WORKERS.has(name) || name.startsWith("x-farmgate-"));
}

/** A worker's answer headers that a caller may see, as a flat [name, value, ...] list. CORS is ours alone to grant. */
export function answerHeadersForCaller(raw: readonly string[]): string[] {
  return filterHeaders(
    raw,
    (name) =>
      name.startsWith("access-control-") ||
      name.startsWith("x-farmgate-") ||
      name === "x-request-id" ||
      name === "set-cookie" ||
      name === "alt-svc",
  );
}

function filterHeaders(raw: readonly string[], drop: (name: string) => boolean): string[] {
  let named: Set<string> | null = null;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.toLowerCase() !== "connection") continue;
    named ??= new Set();
    for (const token of (raw[i + 1] ?? "").split(",")) named.add(token.trim().toLowerCase());
  }
  const kept: string[] = [];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? "";
    const key = name.toLowerCase();
    if (HOP_BY_HOP.has(key) || drop(key) || named?.has(key) === true) continue;
    kept.push(name, raw[i + 1] ?? "");
  }
  return kept;
}
