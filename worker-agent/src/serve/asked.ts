import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { HEADER } from "@farmgate/shared";
import { givenRequestId } from "@farmgate/wire";

/** The gateway's or caller's own id for a request when it brings a good one, else a new one. */
export function requestIdOf(headers: IncomingHttpHeaders): string {
  return givenRequestId(headers) ?? randomUUID();
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
