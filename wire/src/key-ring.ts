import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type AccessKey, FarmError, KEY_PROTOCOL } from "@farmgate/shared";

/** Who asks. `key` null: no keys are configured, so that everybody may do everything. */
export interface Caller {
  /** The key's name; empty for everybody. */
  name: string;
  key: AccessKey | null;
}

/** Whether the caller may change the program's state and touch others' requests. */
export function isAdmin(caller: Caller): boolean {
  return caller.key === null || caller.key.admin;
}

/** The models that the caller may ask for, as patterns. */
export function allowedModels(caller: Caller): readonly string[] {
  return caller.key?.models ?? EVERY_MODEL;
}

const EVERY_MODEL = ["*"];

const EVERYBODY: Caller = { name: "", key: null };

/** The configured keys, and how many requests each of them has under way. */
export class KeyRing {
  #entries: readonly { caller: Caller; digest: Buffer }[] = [];
  /** By name, so that a change of keys keeps the counts. */
  readonly #underWay = new Map<string, number>();

  constructor(keys: readonly AccessKey[]) {
    this.configure(keys);
  }

  /** Replaces the keys; requests under way stay counted. */
  configure(keys: readonly AccessKey[]): void {
    this.#entries = keys.map((key) => ({ caller: { name: key.name, key }, digest: digestOf(key.key) }));
  }

  /** Throws `invalid_api_key`. Every key is compared, by its hash, so that the time taken tells nothing. */
  identify(headers: IncomingHttpHeaders): Caller {
    if (this.#entries.length === 0) return EVERYBODY;
    const presented = presentedKey(headers);
    if (presented === null) {
      throw new FarmError("invalid_api_key", "A key is needed: send it as `Authorization: Bearer KEY`.");
    }
    const digest = digestOf(presented);
    let found: Caller | null = null;
    for (const entry of this.#entries) if (timingSafeEqual(entry.digest, digest)) found = entry.caller;
    if (found === null) throw new FarmError("invalid_api_key", "This key is not known here.");
    return found;
  }

  /**
   * Takes one of the caller's places; throws `rate_limited` when all are taken, with the seconds after which one of so
   * many may be free. Call the result exactly once.
   */
  enter(caller: Caller, placeInS: (places: number) => number = () => 1): () => void {
    if (caller.key === null) return () => {};
    const { name, maxConcurrent } = caller.key;
    const count = this.#underWay.get(name) ?? 0;
    if (maxConcurrent > 0 && count >= maxConcurrent) {
      const text = `The key "${name}" may have ${maxConcurrent} requests under way at once.`;
      throw new FarmError("rate_limited", text, { retryAfterS: placeInS(maxConcurrent) });
    }
    this.#underWay.set(name, count + 1);
    return () => {
      const left = (this.#underWay.get(name) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(name);
      else this.#underWay.set(name, left);
    };
  }
}

/**
 * The key in `Authorization: Bearer`, in `x-api-key`, as the password (or the only part) of Basic, or among the protocols
 * that a page offers for its WebSocket.
 */
function presentedKey(headers: IncomingHttpHeaders): string | null {
  const [scheme = "", value = ""] = (headers.authorization ?? "").trim().split(/\s+/, 2);
  if (value !== "" && scheme.toLowerCase() === "bearer") return value;
  if (value !== "" && scheme.toLowerCase() === "basic") {
    const [user = "", ...password] = Buffer.from(value, "base64").toString("utf8").split(":");
    return password.join(":") || user || null;
  }
  const key = headers["x-api-key"];
  if (typeof key === "string" && key !== "") return key;
  const offered = headers["sec-websocket-protocol"]?.split(",").map((protocol) => protocol.trim());
  return offered?.find((protocol) => protocol.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length) || null;
}

function digestOf(key: string): Buffer {
  return createHash("sha256").update(key).digest();
}
