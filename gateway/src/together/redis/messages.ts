import type { News, Question } from "../news.ts";

/** What members tell each other over the channel that all of them hear. */
export interface Told {
  /** What changed of the sender's counts, by the fields of its record; with `isAll` everything. */
  counts?: { step: number; fields: [string, number][]; isAll?: boolean };
  news?: News[];
  question?: { number: number; question: Question };
  /** It leaves. */
  bye?: true;
  /** A lease is free. */
  freed?: true;
}

/** What comes over the channel of the one who asked. `value` absent: nothing to say. */
export interface Answer {
  number: number;
  value?: unknown;
}

/** Redis drops a subscriber that is too far behind: after 32 MB unless it is set up otherwise. In characters. */
export const MOST_TOLD = 8 * 1_024 ** 2;

/** With the sender before it, so that one's own need not be parsed. */
export function messageOf(from: string, told: Told | Answer): string {
  return `${from} ${JSON.stringify(told)}`;
}

/** null: it is one's own, or none of ours. */
export function readMessage(text: string, id: string): { from: string; told: Told & Answer } | null {
  const end = text.indexOf(" ");
  if (end < 1 || (end === id.length && text.startsWith(id))) return null;
  try {
    const told: unknown = JSON.parse(text.slice(end + 1));
    return typeof told === "object" && told !== null ? { from: text.slice(0, end), told: told as Told & Answer } : null;
  } catch {
    return null;
  }
}
