import { createHash } from "node:crypto";
import type { Api, BodyBytes, ScannedBody } from "@farmgate/shared";

/** What identifies a conversation, so far and at its earlier answers. */
export interface PrefixHashes {
  /** Of all turns: what is remembered when an answer comes. null: no turns. */
  whole: string | null;
  /** Of the turns before each earlier answer, longest first: what is looked up. */
  earlier: readonly string[];
}

const NONE: PrefixHashes = { whole: null, earlier: [] };

/**
 * Hashes a conversation at the places where an answer followed, the last ones only: its next turn needs no others.
 * Only raw bytes are hashed, as a client repeats them, once and in one pass. SHA-256 since the processor does it and
 * nobody can then aim at another caller's conversation. Key and caller are part of it, and so are instructions that
 * stand outside of the turns: another model, caller or opening is another conversation.
 */
export function prefixHashes(
  api: Api,
  body: BodyBytes,
  scan: ScannedBody,
  { key, caller }: { key: string; caller: string },
): PrefixHashes {
  const turns = api === "responses" ? scan.input : scan.messages;
  if (turns === null) return NONE;
  const hash = createHash("sha256").update(JSON.stringify([key, caller]));
  const add = (start: number, end: number) => {
    for (const piece of body.range(start, end)) hash.update(piece);
  };
  if (scan.system !== null) add(scan.system.start, scan.system.end);
  let hashedTo = turns.start;
  const earlier: string[] = [];
  for (const end of turns.beforeAnswers) {
    add(hashedTo, end);
    hashedTo = end;
    earlier.push(hash.copy().digest("base64"));
  }
  add(hashedTo, turns.end);
  return { whole: hash.digest("base64"), earlier: earlier.toReversed() };
}
