import type { LookupFunction } from "node:net";
import { type Clock, type GetAnswer, headerValue, withoutLastSlashes } from "@farmgate/shared";
import { Agent, type Dispatcher } from "undici";
import { trusting } from "./upstream.ts";
import { type WholeAnswer, wholeAnswer } from "./whole-answer.ts";

/** A catalogue beyond this size is none: 10,000 models take about 4 MB. */
const MAX_BODY = 8 * 1024 * 1024;
const STOPPED = "the poll was stopped";

export interface GetTarget {
  /** The worker's address, a path prefix included. */
  url: string;
  apiKey: string | null;
}

/** The clock of each GET is its own; this one only ends connections that a stopped GET left behind. */
const CONNECT_MS = 10_000;

/** What GETs of polls are sent by; `ca` and `lookup` as of `createUpstream`. */
export function createPollAgent(ca: string | null = null, lookup?: LookupFunction): Agent {
  return new Agent({ connect: { ...trusting(ca), ...(lookup && { lookup }), timeout: CONNECT_MS } });
}

/**
 * One GET with everything bounded: `timeoutMs` for the whole, 8 MB for the body, no redirect followed, a connection
 * of its own (which also tells whether the worker still accepts any). `stop` ends it early, as silent or broken.
 */
export async function pollGet(
  dispatcher: Dispatcher,
  clock: Clock,
  target: GetTarget,
  path: string,
  timeoutMs: number,
  stop: AbortSignal,
): Promise<GetAnswer> {
  if (stop.aborted) return { kind: "silent", refused: false, reason: STOPPED };
  const url = new URL(target.url);
  const headers = ["host", url.host, "accept", "application/json", "connection", "close"];
  if (target.apiKey !== null) headers.push("authorization", `Bearer ${target.apiKey}`);
  const request = {
    origin: url.origin,
    method: "GET",
    path: withoutLastSlashes(url.pathname) + path,
    headers,
    body: null,
  };
  const answer = await wholeAnswer(dispatcher, clock, request, { ms: timeoutMs, bytes: MAX_BODY }, stop);
  const { head, body, cut } = answer;
  if (head === null || cut !== null) return unanswered(answer, timeoutMs);
  const server = headerValue(head.rawHeaders, "server") ?? "";
  return { kind: "answer", status: head.status, server, body: body.toString("utf8") };
}

function unanswered({ head, cut }: WholeAnswer, timeoutMs: number): GetAnswer {
  if (head !== null) return { kind: "broken", status: head.status, reason: whyBroken(cut, timeoutMs) };
  if (cut === "slow") return { kind: "silent", refused: false, reason: `no answer within ${timeoutMs} ms` };
  if (cut === "stopped") return { kind: "silent", refused: false, reason: STOPPED };
  if (cut === null || cut === "large") return { kind: "silent", refused: false, reason: "no answer" };
  const refused = cut.kind === "refused";
  return { kind: "silent", refused, reason: refused ? "connection refused" : cut.message };
}

function whyBroken(cut: WholeAnswer["cut"], timeoutMs: number): string {
  if (cut === "slow") return `the answer was not complete after ${timeoutMs} ms`;
  if (cut === "large") return "the answer is over 8 MB";
  return cut === "stopped" ? STOPPED : "the answer broke off";
}
