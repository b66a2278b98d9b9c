import type { IncomingHttpHeaders } from "node:http";
import { FarmError, HEADER } from "@farmgate/shared";

export type RequestPriority = "interactive" | "batch";

/** What a caller may say about how it wants to be served; null: it says nothing. */
export interface Wishes {
  priority: RequestPriority | null;
  /** Milliseconds until the first byte. */
  deadlineMs: number | null;
}

/** Reads `x-farmgate-priority` and `x-farmgate-deadline-ms`. Throws `invalid_request` for what makes no sense. */
export function wishesOf(headers: IncomingHttpHeaders): Wishes {
  const priority = headers[HEADER.priority] ?? null;
  if (priority !== null && priority !== "interactive" && priority !== "batch") {
    throw new FarmError("invalid_request", `${HEADER.priority} must be "interactive" or "batch".`);
  }
  const deadline = headers[HEADER.deadlineMs];
  if (deadline === undefined) return { priority, deadlineMs: null };
  if (typeof deadline !== "string" || !/^\d{1,10}$/.test(deadline)) {
    throw new FarmError("invalid_request", `${HEADER.deadlineMs} must be a whole number of milliseconds.`);
  }
  return { priority, deadlineMs: Number(deadline) };
}

/** The id that a request brings along, when it is a plain token that log lines and headers can hold; else null. */
export function givenRequestId(headers: IncomingHttpHeaders): string | null {
  const given = headers[HEADER.requestId];
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : null;
}
