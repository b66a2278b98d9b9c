import { createHash } from "node:crypto";
import type { ScannedBody } from "@farmgate/shared";

/** What identifies a conversation, so far and at its earlier answers. */
export interface PrefixHashes {
  /** Of all messages: what is remembered when an answer comes. null: no messages. */
  whole: string | null;
  /** Of the messages before each earlier answer, longest first: what is looked up. */
  earlier: readonly string[];
}

const NONE: PrefixHashes = { whole: null, earlier: [] };

/**
 * Hashes a conversation at the places where an answer followed, the last ones only: its next turn needs no others.
 * Only raw bytes are hashed, as a client repeats them, once and in one pass. SHA-256 since the processor does it and
 * nobody can then aim at another caller's conversation. Key and caller are part of it: another model or caller is
 * another conversation.
 */
export function prefixHashes(body: Buffer, scan: ScannedBody, key: string, caller: string): PrefixHashes {
  const { messages } = scan;
  if (messages === null) return NONE;
  const hash = createHash("sha256").update(JSON.stringify([key, caller]));
  let hashedTo = messages.start;
  const earlier: string[] = [];
  for (const end of messages.beforeAnswers) {
    hash.update(body.subarray(hashedTo, end));
    hashedTo = end;
    earlier.push(hash.copy().digest("base64"));
  }
  hash.update(body.subarray(hashedTo, messages.end));
  return { whole: hash.digest("base64"), earlier: earlier.toReversed() };
}
