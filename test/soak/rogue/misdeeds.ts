// What goes wrong with one request at the worker that misbehaves. Pure.
import type { Random } from "@farmgate/shared";

export const MISDEEDS = [
  /** The connection is reset before any byte. */
  "reset",
  /** ... in the middle of the answer. */
  "reset inside",
  /** No byte comes, and the connection stays. */
  "stall",
  "stall inside",
  "error 500",
  "busy 503",
  /** The connection is closed in the middle of the answer, as if it had ended. */
  "cut",
  /** Slower than the others, and right. */
  "slow",
  /** Bytes that are no HTTP. */
  "garbage",
  /** A length that is never reached. */
  "wrong length",
] as const;

export type Misdeed = (typeof MISDEEDS)[number];

/** Null: this one is served well. */
export function misdeedFor(random: Random, share: number): Misdeed | null {
  if (random() >= share) return null;
  return MISDEEDS[Math.floor(random() * MISDEEDS.length)] ?? null;
}
