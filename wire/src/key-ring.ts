import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import {
  type AccessKey,
  allowance,
  FarmError,
  KEY_PROTOCOL,
  keyDigest,
  LIMIT_HEADER,
  takeRequest,
} from "@farmgate/shared";

/** Who asks. `key` null: nobody in particular, where no key is needed. */
export interface Caller {
  /** The key's name; empty without one. */
  name: string;
  key: AccessKey | null;
}

/** The models that the caller may ask for, as patterns. */
export function allowedModels(caller: Caller): readonly string[] {
  return caller.key?.models ?? EVERY_MODEL;
}

const EVERY_MODEL = ["*"];

const MINUTE_MS = 60_000;

const EVERYBODY: Caller = { name: "", key: null };

/** The configured keys, how many requests each of them has under way, and how much of its minute it has spent. */
export class KeyRing {
  #entries: readonly { caller: Caller; digest: Buffer }[] = [];
  /** Whom it knows besides, and who makes it no ring with keys. */
  readonly #others: readonly AccessKey[];
  #isEmpty = true;
  /** By name, so that a change of keys keeps the counts. */
  readonly #underWay = new Map<string, number>();
  /** By name as well: when what was spent of a minute is there again, in milliseconds. */
  readonly #fullAt = new Map<string, number>();

  /** `others` are known as well, but where there are no keys nobody needs one because of them. */
  constructor(keys: readonly AccessKey[], others: readonly AccessKey[] = []) {
    this.#others = others;
    this.configure(keys);
  }

  /** Replaces the keys; requests under way stay counted. */
  configure(keys: readonly AccessKey[]): void {
    this.#isEmpty = keys.length === 0;
    const all = [...keys, ...this.#others];
    this.#entries = all.map((key) => ({ caller: { name: key.name, key }, digest: bytesOf(keyDigest(key.key)) }));
    const names = new Set(keys.map(({ name }) => name));
    for (const name of this.#fullAt.keys()) if (!names.has(name)) this.#fullAt.delete(name);
  }

  /** There are none: who asks need not say who it is. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  /** Throws `invalid_api_key`. Every key is compared, by its hash, so that the time taken tells nothing. */
  identify(headers: IncomingHttpHeaders): Caller {
    if (this.#entries.length === 0) return EVERYBODY;
    const presented = presentedKey(headers);
    if (presented === null) {
      if (this.#isEmpty) return EVERYBODY;
      throw new FarmError("invalid_api_key", "A key is needed: send it as `Authorization: Bearer KEY`.");
    }
    const digest = createHash("sha256").update(presented).digest();
    let found: Caller | null = null;
    for (const entry of this.#entries) if (timingSafeEqual(entry.digest, digest)) found = entry.caller;
    if (found === null && this.#isEmpty) return EVERYBODY;
    if (found === null) throw new FarmError("invalid_api_key", "This key is not known here.");
    return found;
  }

  /**
   * Takes one of the caller's places, and one request of its minute; throws `rate_limited` when all are taken, with the
   * seconds after which one of so many may be free. `now` in milliseconds. `elsewhere`: how many of the places are taken
   * beside those counted here. Call the result exactly once.
   */
  enter(
    caller: Caller,
    now: number,
    placeInS: (places: number) => number = () => 1,
    elsewhere: number = 0,
  ): () => void {
    if (caller.key === null) return () => {};
    const { name, maxConcurrent, requestsPerMinute } = caller.key;
    const count = this.#underWay.get(name) ?? 0;
    if (maxConcurrent > 0 && count + elsewhere >= maxConcurrent) {
      throw tooManyAtOnce(caller.key, placeInS(maxConcurrent));
    }
    if (requestsPerMinute > 0) this.#spend(caller.key, now);
    this.#underWay.set(name, count + 1);
    return () => {
      const left = (this.#underWay.get(name) ?? 1) - 1;
      if (left === 0) this.#underWay.delete(name);
      else this.#underWay.set(name, left);
    };
  }

  /** What a caller with a limit is told of it, under the names that OpenAI gives it, flat; nothing for others. */
  limitHeaders({ key }: Caller, now: number): string[] {
    if (key === null || key.requestsPerMinute === 0) return [];
    const { remaining, resetMs } = allowance(this.#fullAt.get(key.name), now, key.requestsPerMinute);
    return [
      LIMIT_HEADER,
      String(key.requestsPerMinute),
      "x-ratelimit-remaining-requests",
      String(remaining),
      "x-ratelimit-reset-requests",
      `${Math.round(resetMs)}ms`,
    ];
  }

  /** Others count as well: by all of them what is spent of the key's minute is there again in `resetMs`. */
  spentByAll(name: string, now: number, resetMs: number): void {
    this.#fullAt.set(name, now + resetMs);
  }

  /** A request that entered was refused by all of them: the key's next one may come in `retryMs`. */
  refusedByAll({ name, requestsPerMinute }: AccessKey, now: number, retryMs: number): void {
    this.#fullAt.set(name, now + retryMs + MINUTE_MS - MINUTE_MS / requestsPerMinute);
  }

  /** A request that entered is refused after all, and takes nothing of its key's minute. */
  giveBack({ name, requestsPerMinute }: AccessKey): void {
    const fullAt = this.#fullAt.get(name);
    if (requestsPerMinute > 0 && fullAt !== undefined) this.#fullAt.set(name, fullAt - MINUTE_MS / requestsPerMinute);
  }

  #spend(key: AccessKey, now: number): void {
    const { taken, fullAt, retryMs } = takeRequest(this.#fullAt.get(key.name), now, key.requestsPerMinute);
    if (!taken) throw tooManyAMinute(key, retryMs / 1_000);
    this.#fullAt.set(key.name, fullAt);
  }
}

/** As many requests of the key are under way as it may have. */
export function tooManyAtOnce({ name, maxConcurrent }: AccessKey, retryAfterS: number): FarmError {
  return new FarmError("rate_limited", `The key "${name}" may have ${maxConcurrent} requests under way at once.`, {
    retryAfterS,
  });
}

/** The key's minute is spent. */
export function tooManyAMinute({ name, requestsPerMinute }: AccessKey, retryAfterS: number): FarmError {
  return new FarmError("rate_limited", `The key "${name}" may send ${requestsPerMinute} requests a minute.`, {
    retryAfterS,
  });
}

/**
 * The key in `Authorization: Bearer`, in `x-api-key`, as the password (or the only part) of Basic, or among the protocols
 * that a page offers for its WebSocket.
 */
export function presentedKey(headers: IncomingHttpHeaders): string | null {
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

function bytesOf(hex: string): Buffer {
  return Buffer.from(hex, "hex");
}
