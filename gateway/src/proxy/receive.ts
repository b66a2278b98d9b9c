import type { IncomingHttpHeaders } from "node:http";
import {
  type BodyBytes,
  type BodyScanner,
  foundIn,
  HEADER,
  askedModel,
  NO_BODY,
  NOTHING_FOUND,
  queryModel,
  scannerFor,
} from "@farmgate/shared";
import { readBody, wishesOf } from "@farmgate/wire";
import { askedMs, wishesOfKey } from "../scheduling/asked-deadline.ts";
import { afterOthers } from "../admission/come-again.ts";
import type { Farm } from "../farm.ts";
import type { Call, Received } from "./call.ts";
import { hopsOf } from "./headers.ts";

/** Reads a request to its end. Throws the FarmError that refuses it. */
export async function receive(farm: Farm, call: Call): Promise<Received> {
  const { headers } = call.request;
  const hops = hopsOf(singleValue(headers, HEADER.hop), headers.via, farm.mark);
  if (call.socket !== null) return receiveSocket(farm, call, hops);
  const scanner = scannerFor(call.api, call.request.rawHeaders);
  const body = await readFrom(farm, call, scanner);
  call.receivedAt = farm.clock.now();
  const scan = foundIn(scanner.finish(), headers["content-encoding"]);
  const model = askedModel(call.api, scan.model, call.request.url ?? "");
  const { priority, deadlineMs } = wishesOf(headers);
  return { body, scan, model, hops, priority, deadlineAt: deadlineOf(farm, call, deadlineMs) };
}

async function readFrom(farm: Farm, call: Call, scanner: BodyScanner): Promise<BodyBytes> {
  try {
    return await readBody(call.request, farm.config.limits.body, {
      share: call.share,
      scanner,
      roomInS: () => afterOthers(farm, farm.live.size),
      onStart: (stop) => call.onGone(stop),
    });
  } finally {
    call.onGone(null);
  }
}

/** A WebSocket's request has no body; its query names the model. */
function receiveSocket(farm: Farm, call: Call, hops: number): Received {
  const { model } = queryModel(call.request.url ?? "");
  call.receivedAt = farm.clock.now();
  const { priority, deadlineMs } = wishesOf(call.request.headers);
  const deadlineAt = deadlineOf(farm, call, deadlineMs);
  return { body: NO_BODY, scan: NOTHING_FOUND, model, hops, priority, deadlineAt };
}

/** `told`: what the request says itself. */
function deadlineOf({ config }: Farm, { callerName, arrivedAt }: Call, told: number | null): number | null {
  const isGreedy = config.scheduling === "greedy";
  const ms = isGreedy ? told : askedMs(told, wishesOfKey(config, callerName), config.deadlines);
  return ms === null ? null : arrivedAt + ms;
}

function singleValue(headers: IncomingHttpHeaders, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}
