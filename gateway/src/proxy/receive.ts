import type { IncomingHttpHeaders } from "node:http";
import { FarmError, HEADER, scanBody } from "@farmgate/shared";
import { readBody } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import type { Call, Received } from "./call.ts";
import { hopsOf } from "./headers.ts";

/** Reads a request to its end. Throws the FarmError that refuses it. */
export async function receive(farm: Farm, call: Call): Promise<Received> {
  const { headers } = call.request;
  const hops = hopsOf(singleValue(headers, HEADER.hop), headers.via, farm.mark);
  const reading = readBody(call.request, farm.config.limits.body, (stop) => call.onGone(stop));
  const body = await reading.finally(() => call.onGone(null));
  call.receivedAt = farm.clock.now();
  const scan = scanBody(body);
  if (!scan.ok) {
    const message = `The request cannot be routed: ${compressionOf(headers) ?? scan.message}.`;
    throw new FarmError("invalid_request", message, scan.param === null ? {} : { param: scan.param });
  }
  return { body, scan, hops, priority: priorityOf(headers), deadlineAt: deadlineOf(headers, call.arrivedAt) };
}

/** A body that is packed is no JSON, and its sender can be told so. */
function compressionOf(headers: IncomingHttpHeaders): string | null {
  const encoding = headers["content-encoding"] ?? "identity";
  return encoding === "identity"
    ? null
    : `the body is packed (content-encoding: ${encoding.slice(0, 50)}); send it unpacked`;
}

function priorityOf(headers: IncomingHttpHeaders): string | undefined {
  const priority = singleValue(headers, HEADER.priority);
  if (priority === undefined || priority === "interactive" || priority === "batch") return priority;
  throw new FarmError("invalid_request", `${HEADER.priority} must be "interactive" or "batch".`);
}

function deadlineOf(headers: IncomingHttpHeaders, arrivedAt: number): number | null {
  const value = singleValue(headers, HEADER.deadlineMs);
  if (value === undefined) return null;
  if (/^\d{1,10}$/.test(value)) return arrivedAt + Number(value);
  throw new FarmError("invalid_request", `${HEADER.deadlineMs} must be a whole number of milliseconds.`);
}

function singleValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
