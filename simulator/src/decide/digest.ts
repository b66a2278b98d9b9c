import { createHash } from "node:crypto";

/** A stable fingerprint of a few texts, 64 hex digits. */
export function digestOf(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex");
}

/** A seed for `seededRandom` from a digest; `salt` picks another part of it (0..7). */
export function seedOf(digest: string, salt = 0): number {
  return Number.parseInt(digest.slice(salt * 8, salt * 8 + 8), 16);
}
