import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { FarmError, HEADER } from "@farmgate/shared";
import type { Priority } from "../queue/types.ts";

/** The gateway's or caller's own id for a request when it is a plain token, else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  const given = headers[HEADER.requestId];
  return typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

/** What a caller may say about how it wants to be queued. */
export interface Wishes {
  priority: Priority;
  /** Milliseconds until the first byte; null: no limit. */
  deadlineMs: number | null;
}

/** Reads `x-farmgate-priority` and `x-farmgate-deadline-ms`. Throws `invalid_request` for what makes no sense. */
export function wishesOf(headers: IncomingHttpHeaders): Wishes {
  const priority = headers[HEADER.priority] ?? "interactive";
  if (priority !== "interactive" && priority !== "batch") {
    throw new FarmError("invalid_request", `${HEADER.priority} must be interactive or batch.`);
  }
  const deadline = headers[HEADER.deadlineMs];
  if (deadline === undefined) return { priority, deadlineMs: null };
  if (typeof deadline !== "string" || !/^\d{1,12}$/.test(deadline)) {
    throw new FarmError("invalid_request", `${HEADER.deadlineMs} must be a whole number of milliseconds.`);
  }
  return { priority, deadlineMs: Number(deadline) };
}

/**
 * Who shares a turn in the queue: the key's name, and behind it the caller that a gateway names. So nobody takes
 * the place of another key's callers.
 */
export function callerOf(keyName: string, headers: IncomingHttpHeaders): string {
  const named = headers[HEADER.caller];
  if (typeof named !== "string" || named === "") return keyName;
  return keyName === "" ? named.slice(0, 200) : `${keyName}/${named.slice(0, 200)}`;
}
