import {
  answerHeadersForCaller,
  type ApiFamily,
  FarmError,
  HEADER,
  headerSafe,
  headerValue,
  LIMIT_HEADER,
  requestHeadersForWorker,
  requestIdHeaders,
} from "@farmgate/shared";
import type { Weighed } from "../routing/types.ts";

/** How many gateways a request may pass; a chain longer than this is taken for a loop. */
const MAX_HOPS = 5;

/** How every gateway begins its mark in Via. */
const MARK = "1.1 farmgate";

/** One gateway's own mark in Via, by which it knows a request that comes round again. */
export function markOf(gatewayId: string): string {
  return `${MARK}-${gatewayId}`;
}

/** What of a request the gateway itself tells a worker. */
export interface UpstreamIdentity {
  /** Our own agent: only it is told what follows. */
  agent: boolean;
  apiKey: string | null;
  requestId: string;
  caller: string;
  priority: string | null;
  /** What is left until the caller's deadline for the first byte. */
  deadlineLeftMs: number | null;
  hops: number;
  /** This gateway's own mark. */
  mark: string;
}

/**
 * The headers for a worker, flat; undici adds Host and Content-Length. `raw` is the caller's `rawHeaders`.
 * A bare engine sees nothing of ours but `Via`, which ends a loop of gateways that take each other for engines.
 */
export function upstreamHeaders(raw: readonly string[], identity: UpstreamIdentity): string[] {
  const headers = requestHeadersForWorker(raw);
  if (identity.apiKey !== null) headers.push("authorization", `Bearer ${identity.apiKey}`);
  headers.push("via", identity.mark);
  if (!identity.agent) return headers;
  headers.push(HEADER.requestId, identity.requestId, HEADER.hop, String(identity.hops + 1));
  if (identity.caller !== "") headers.push(HEADER.caller, headerSafe(identity.caller));
  if (identity.priority !== null) headers.push(HEADER.priority, identity.priority);
  if (identity.deadlineLeftMs !== null) {
    headers.push(HEADER.deadlineMs, String(Math.max(0, Math.round(identity.deadlineLeftMs))));
  }
  return headers;
}

/** What of a caller's headers describes its body or its API, and does not hold for a translated request. */
const OF_THE_API = /^(content-type|content-encoding|accept|anthropic-.*|openai-.*|x-stainless-.*)$/i;

/** The caller's headers for a request that was translated, flat. */
export function translatedHeaders(raw: readonly string[]): string[] {
  const headers = ["content-type", "application/json"];
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] ?? "";
    if (!OF_THE_API.test(name)) headers.push(name, raw[i + 1] ?? "");
  }
  return headers;
}

/**
 * How many gateways a request has passed: what they say themselves, or their marks in Via, whichever is more.
 * Throws `loop_detected` when this gateway is one of them, or when they are too many.
 */
export function hopsOf(hop: string | undefined, via: string | undefined, mark: string): number {
  if (hop === undefined && via === undefined) return 0;
  const told = hop !== undefined && /^\d+$/.test(hop) ? Number(hop) : 0;
  const marks = (via ?? "").split(",").filter((entry) => entry.trim().startsWith(MARK));
  const hops = Math.max(told, marks.length);
  if (marks.some((entry) => entry.trim() === mark)) {
    throw new FarmError("loop_detected", "The request came back to this gateway: gateways send it round in a circle.");
  }
  if (hops < MAX_HOPS) return hops;
  throw new FarmError("loop_detected", `The request has passed ${hops} gateways: they send it round in a circle.`);
}

/** Where an answer comes from, for its headers. */
export interface AnswerOrigin {
  /** Of the API that was called. */
  family: ApiFamily;
  requestId: string;
  worker: string;
  /** The worker's own spelling. */
  model: string;
  warmth: string;
  attempts: number;
  /** null: nothing was. */
  weighed: Weighed | null;
}

/**
 * The head of a relayed answer for the caller, flat. `own`, flat as well: what the gateway itself tells; what a worker
 * says of a limit in the same words is left out.
 */
export function answerHeaders(raw: readonly string[], origin: AnswerOrigin, own: readonly string[]): string[] {
  const isLimited = own.includes(LIMIT_HEADER);
  const headers = answerHeadersForCaller(isLimited ? withoutLimits(raw) : raw);
  headers.push(
    ...requestIdHeaders(origin.family, origin.requestId),
    HEADER.worker,
    headerSafe(origin.worker),
    HEADER.model,
    headerSafe(origin.model),
    HEADER.warmth,
    origin.warmth,
    HEADER.attempts,
    String(origin.attempts),
  );
  if (origin.weighed !== null) headers.push(HEADER.decision, decisionHeader(origin.weighed));
  for (const part of own) headers.push(part);
  return headers;
}

function withoutLimits(raw: readonly string[]): string[] {
  return raw.filter((_, i) => !/^x-ratelimit-.*-requests$/i.test(raw[i - (i % 2)] ?? ""));
}

/** `swap; wait=40000; swap=25000`, in milliseconds. */
function decisionHeader({ decision, waitMs, swapMs }: Weighed): string {
  return `${decision}; wait=${Math.round(waitMs)}; swap=${Math.round(swapMs)}`;
}

/** `retry-after` in seconds; a date or nonsense is null. */
export function retryAfterSeconds(raw: readonly string[]): number | null {
  const value = headerValue(raw, "retry-after");
  return value !== null && /^\d{1,6}$/.test(value.trim()) ? Number(value) : null;
}
