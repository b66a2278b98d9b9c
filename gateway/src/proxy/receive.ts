import type { IncomingHttpHeaders } from "node:http";
import { HEADER, scanOrRefuse } from "@farmgate/shared";
import { readBody, wishesOf } from "@farmgate/wire";
import type { Farm } from "../farm.ts";
import type { Call, Received } from "./call.ts";
import { hopsOf } from "./headers.ts";

/** Reads a request to its end. Throws the FarmError that refuses it. */
export async function receive(farm: Farm, call: Call): Promise<Received> {
  const { headers } = call.request;
  const hops = hopsOf(singleValue(headers, HEADER.hop), headers.via, farm.mark);
  const body = await readFrom(farm, call);
  call.receivedAt = farm.clock.now();
  const scan = scanOrRefuse(body, headers["content-encoding"]);
  const { priority, deadlineMs } = wishesOf(headers);
  return { body, scan, hops, priority, deadlineAt: deadlineMs === null ? null : call.arrivedAt + deadlineMs };
}

async function readFrom(farm: Farm, call: Call): Promise<Buffer> {
  try {
    return await readBody(call.request, farm.config.limits.body, {
      share: call.share,
      onStart: (stop) => call.onGone(stop),
    });
  } finally {
    call.onGone(null);
  }
}

function singleValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
