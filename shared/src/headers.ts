import type { ApiFamily } from "./error-envelope.ts";

/** Header names that gateway and agent set or read, all lower case. */
export const HEADER = {
  requestId: "x-request-id",
  worker: "x-farmgate-worker",
  model: "x-farmgate-model",
  warmth: "x-farmgate-warmth",
  attempts: "x-farmgate-attempts",
  decision: "x-farmgate-decision",
  priority: "x-farmgate-priority",
  deadlineMs: "x-farmgate-deadline-ms",
  deadlineRelax: "x-farmgate-deadline-relax",
  dryRun: "x-farmgate-dry-run",
  caller: "x-farmgate-caller",
  hop: "x-farmgate-hop",
  /** Goes with orders to an agent: grows with each gateway that comes to give them. */
  fence: "x-farmgate-fence",
} as const;

/** With which a caller is told of its key's requests a minute; two more are told with it. */
export const LIMIT_HEADER = "x-ratelimit-limit-requests";

/** The headers that tell a caller its request's id, flat: each API's SDK reads its own. */
export function requestIdHeaders(family: ApiFamily, id: string): string[] {
  return family === "anthropic" ? [HEADER.requestId, id, "request-id", id] : [HEADER.requestId, id];
}

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

/** How a page, which can set no header on a WebSocket, sends its key: as one of the protocols that it offers. */
export const KEY_PROTOCOL = "openai-insecure-api-key.";

/** A caller's own credentials and address, and what a proxy writes anew. */
const NOT_FOR_WORKERS: ReadonlySet<string> = new Set([
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "x-auth-token",
  "x-access-token",
  "x-forwarded-access-token",
  "x-amz-security-token",
  "cf-access-jwt-assertion",
  "cf-access-client-id",
  "cf-access-client-secret",
  "cookie",
  "host",
  "content-length",
  "expect",
  "accept-encoding",
  "x-request-id",
  // Which pages may ask is told by the one that they asked; Ollama refuses those that it does not know itself.
  "origin",
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

/** The same for a WebSocket, whose caller may have put its key among the protocols that it offers. */
export function socketHeadersForWorker(raw: readonly string[]): string[] {
  const headers: string[] = [];
  const all = requestHeadersForWorker(raw);
  for (let i = 0; i < all.length; i += 2) {
    const name = all[i] ?? "";
    const value = all[i + 1] ?? "";
    if (name.toLowerCase() !== "sec-websocket-protocol") headers.push(name, value);
    else {
      const kept = value.split(",").filter((offered) => !offered.trim().startsWith(KEY_PROTOCOL));
      if (kept.length > 0) headers.push(name, kept.join(",").trim());
    }
  }
  return headers;
}

/**
 * A worker's answer headers that a caller may see, as a flat [name, value, ...] list. CORS is ours alone to grant.
 * A stream gets what keeps proxies in front from holding it back (nginx does), unless it says so itself.
 */
export function answerHeadersForCaller(raw: readonly string[]): string[] {
  const isStream = isEventStream(raw) || isLineStream(raw);
  // Told its length, a stream that breaks could not be told so.
  const isOpen = isStream && !isPacked(raw);
  const headers = filterHeaders(
    raw,
    (name) =>
      name.startsWith("access-control-") ||
      name.startsWith("x-farmgate-") ||
      name === "x-request-id" ||
      name === "request-id" ||
      name === "set-cookie" ||
      name === "alt-svc" ||
      (isOpen && name === "content-length"),
  );
  dropOriginFromVary(headers);
  if (!isStream) return headers;
  if (headerValue(raw, "cache-control") === null) headers.push("cache-control", "no-cache, no-transform");
  if (headerValue(raw, "x-accel-buffering") === null) headers.push("x-accel-buffering", "no");
  return headers;
}

/** A worker whose CORS headers are left out says nothing about pages any more. */
function dropOriginFromVary(headers: string[]): void {
  for (let i = headers.length - 2; i >= 0; i -= 2) {
    if (headers[i]?.toLowerCase() !== "vary") continue;
    const names = (headers[i + 1] ?? "").split(",").map((name) => name.trim());
    const kept = names.filter((name) => name.toLowerCase() !== "origin");
    if (kept.length === 0) headers.splice(i, 2);
    else if (kept.length < names.length) headers[i + 1] = kept.join(", ");
  }
}

/** Whether an answer with these headers is a stream of server-sent events. */
export function isEventStream(raw: readonly string[]): boolean {
  return headerValue(raw, "content-type")?.toLowerCase().startsWith("text/event-stream") === true;
}

/** Whether an answer with these headers is a stream of lines of JSON. */
export function isLineStream(raw: readonly string[]): boolean {
  return headerValue(raw, "content-type")?.toLowerCase().startsWith("application/x-ndjson") === true;
}

/** Whether an event of our own can follow in such a stream: its length is not told, and it is not packed. */
export function takesMoreEvents(raw: readonly string[]): boolean {
  return isEventStream(raw) && headerValue(raw, "content-length") === null && !isPacked(raw);
}

/** Whether a line of our own can follow in such a stream of lines of JSON, as Ollama has them. */
export function takesMoreLines(raw: readonly string[]): boolean {
  return isLineStream(raw) && headerValue(raw, "content-length") === null && !isPacked(raw);
}

/** Whether the body is compressed. */
export function isPacked(raw: readonly string[]): boolean {
  return (headerValue(raw, "content-encoding") ?? "identity") !== "identity";
}

/** The first header of that (lower-case) name in a flat list, or null. */
export function headerValue(raw: readonly string[], name: string): string | null {
  for (let i = 0; i < raw.length; i += 2) {
    const key = raw[i];
    if (key?.length === name.length && key.toLowerCase() === name) return raw[i + 1] ?? null;
  }
  return null;
}

/** A name as a header can carry it: what is not plain ASCII is percent-encoded. */
export function headerSafe(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  // Half a surrogate pair, which no bytes can be made of, comes back from them as U+FFFD.
  return encodeURIComponent(Buffer.from(text).toString());
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
