import { type Api, API_NAMES, isApi, parseDuration, withoutLastSlashes } from "@farmgate/shared";
import { InvalidArgumentError } from "commander";

/** Where a gateway listens unless its file says otherwise. */
export const DEFAULT_GATEWAY = "http://127.0.0.1:8400";

/** `--port N`. */
export function portFlag(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("must be a port number, 0 to 65535");
}

/** `--port N` where the address must be known before anything listens. */
export function fixedPortFlag(text: string): number {
  const port = portFlag(text);
  if (port > 0) return port;
  throw new InvalidArgumentError("must be a port number, 1 to 65535");
}

/** `--gateway URL`, without a trailing slash. */
export function gatewayFlag(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return withoutLastSlashes(text);
  throw new InvalidArgumentError("must be an http:// or https:// address");
}

/** A whole number from 1 on. */
export function countFlag(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("must be a whole number from 1 to 999999999");
}

/** A whole number from 1 to `most`. */
export function countUpTo(most: number): (text: string) => number {
  return (text) => {
    const count = countFlag(text);
    if (count <= most) return count;
    throw new InvalidArgumentError(`must be a whole number from 1 to ${most}`);
  };
}

/** `--for DURATION`, in milliseconds. */
export function durationFlag(text: string): number {
  const ms = parseDuration(text);
  if (ms !== null && ms > 0) return ms;
  throw new InvalidArgumentError("must be a duration, as 30s, 10m or 2h");
}

/** `--api NAME`. */
export function apiFlag(text: string): Api {
  if (isApi(text)) return text;
  throw new InvalidArgumentError(`must be one of ${API_NAMES.join(", ")}`);
}
