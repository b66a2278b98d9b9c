import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type AccessKey, FarmError } from "@farmgate/shared";

/** Who asks. `key` null: no keys are configured, so everybody may do everything. */
export interface Caller {
  /** The key's name; empty for everybody. */
  name: string;
  key: AccessKey | null;
}

const EVERYBODY: Caller = { name: "", key: null };

/** The configured keys, and how many requests each has under way. */
export class KeyRing {
  #keys: { caller: Caller; digest: Buffer }[] = [];
  /** By key name, so that a reload keeps the counts. */
  readonly #underWay = new Map<string, number>();

  constructor(keys: readonly AccessKey[]) {
    this.configure(keys);
  }

  configure(keys: readonly AccessKey[]): void {
    this.#keys = keys.map((key) => ({ caller: { name: key.name, key }, digest: sha256(key.key) }));
  }

  /** Throws `invalid_api_key`. Hashing both sides makes the comparison take the same time for every guess. */
  identify(headers: IncomingHttpHeaders): Caller {
    if (this.#keys.length === 0) return EVERYBODY;
    const presented = presentedKey(headers);
    if (presented === null) {
      throw new FarmError("invalid_api_key", "This farm asks for a key: send it as `Authorization: Bearer KEY`.");
    }
    const digest = sha256(presented);
    let found: Caller | null = null;
    for (const entry of this.#keys) if (timingSafeEqual(entry.digest, digest)) found = entry.caller;
    if (found === null) throw new FarmError("invalid_api_key", "The key is not one of this farm's keys.");
    return found;
  }

  /** Takes one of the caller's places; throws `rate_limited` when all are taken. Call the result exactly once. */
  enter(caller: Caller): () => void {
    if (caller.key === null) return () => {};
    const { name } = caller;
    const limit = caller.key.maxConcurrent;
    const count = this.#underWay.get(name) ?? 0;
    if (limit > 0 && count >= limit) {
      throw new FarmError("rate_limited", `The key "${name}" may have ${limit} requests under way at once.`, {
        retryAfterS: 1,
      });
    }
    this.#underWay.set(name, count + 1);
    return () => {
      const left = (this.#underWay.get(name) ?? 1) - 1;
      if (left > 0) this.#underWay.set(name, left);
      else this.#underWay.delete(name);
    };
  }
}

/** Whether the caller may change the farm and see others' requests. */
export function isAdmin(caller: Caller): boolean {
  return caller.key === null || caller.key.admin;
}

/** The key in `Authorization: Bearer`, `x-api-key`, or as the password of `Authorization: Basic`. */
function presentedKey(headers: IncomingHttpHeaders): string | null {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const [scheme = "", value = ""] = authorization.trim().split(/\s+/, 2);
    if (scheme.toLowerCase() === "bearer" && value !== "") return value;
    if (scheme.toLowerCase() === "basic") {
      const pair = Buffer.from(value, "base64").toString("utf8");
      return pair.slice(pair.indexOf(":") + 1);
    }
  }
  const apiKey = headers["x-api-key"];
  return typeof apiKey === "string" && apiKey !== "" ? apiKey : null;
}

function sha256(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
