import { createHash } from "node:crypto";
import { z } from "zod";
import type { ReportProblem } from "./cross-check.ts";
import { name, secret, wholeNumber } from "./pieces.ts";

/** What a key begins with that stands in the file as its hash alone. */
const HASHED = "sha256:";

/** A caller's key as it is given, or `sha256:HEX`. */
const keyOrHash = secret.refine(
  (key) => !isHashedKey(key) || /^sha256:[0-9a-f]{64}$/i.test(key),
  "must have 64 hex digits after sha256: (`farmgate hash-key` makes one)",
);

/** A caller's key (contract section 2, `keys`). */
export const accessKey = z.strictObject({
  name,
  key: keyOrHash,
  models: z.array(z.string()).default(["*"]),
  maxConcurrent: wholeNumber(0).default(0),
  /** Inference requests: so many at once, and so many again with each minute. 0: no limit. */
  requestsPerMinute: wholeNumber(0).default(0),
  admin: z.boolean().default(false),
});
export type AccessKey = z.output<typeof accessKey>;

/** Addresses that may see the inside of a program without a key: `192.0.2.7`, `192.0.2.0/24`, `2001:db8::/32`. */
export const operators = z
  .array(
    z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
      error: "must be an address such as 192.0.2.7, or a range such as 192.0.2.0/24",
    }),
  )
  .default([]);

/** Names under which a program may be called, as `farm.example.com` or `*.example.com`; a port is no part of them. */
export const hosts = z
  .array(
    z
      .string()
      .regex(
        /^(\*|(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*)$/i,
        "must be a name such as farm.example.com or *.example.com, without scheme and port",
      ),
  )
  .default([]);

/** Whether the file has a key's hash alone, so that nobody can send the key who only knows the file. */
export function isHashedKey(key: string): boolean {
  return key.toLowerCase().startsWith(HASHED);
}

/** The SHA-256 of a key in hex digits, whichever of the two stands in the file. */
export function keyDigest(key: string): string {
  if (isHashedKey(key)) return key.slice(HASHED.length).toLowerCase();
  return createHash("sha256").update(key).digest("hex");
}

/** How a file has the key without giving it away. */
export function hashedKey(key: string): string {
  return HASHED + createHash("sha256").update(key).digest("hex");
}

/** Names and values of keys are each one's own, also where one is given and the other hashed. */
export function checkKeys({ keys }: { keys: readonly AccessKey[] }, report: ReportProblem): void {
  const names = new Set<string>();
  const values = new Set<string>();
  for (const [i, { name, key }] of keys.entries()) {
    const value = keyDigest(key);
    if (names.has(name)) report(["keys", i, "name"], `another key is already named "${name}"`);
    if (values.has(value)) report(["keys", i, "key"], "has the same value as another key");
    names.add(name);
    values.add(value);
  }
}
