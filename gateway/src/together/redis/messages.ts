import { parseJson } from "@farmgate/shared";
import { z } from "zod";
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

const count = z.number().int().nonnegative();

/** What stands in news and in a question is for those to judge who take them. */
const message = z.object({
  counts: z
    .object({ step: count, fields: z.array(z.tuple([z.string(), count])), isAll: z.boolean().exactOptional() })
    .exactOptional(),
  news: z.array(z.custom<News>(isObject)).exactOptional(),
  question: z.object({ number: count, question: z.custom<Question>(isObject) }).exactOptional(),
  bye: z.literal(true).exactOptional(),
  freed: z.literal(true).exactOptional(),
}) satisfies z.ZodType<Told>;

const answer = z.object({ number: count, value: z.unknown().optional() }) satisfies z.ZodType<Answer>;

/**
 * What another member says to all. null: it is one's own, or none of ours. Whoever can write to Redis can say anything:
 * nothing of it may end a gateway.
 */
export function readTold(text: string, id: string): { from: string; told: Told } | null {
  const said = unpacked(text, id);
  const told = message.safeParse(said?.value).data;
  return said === null || told === undefined ? null : { from: said.from, told };
}

/** The same for an answer to a question. */
export function readAnswer(text: string, id: string): { from: string; answer: Answer } | null {
  const said = unpacked(text, id);
  const read = answer.safeParse(said?.value).data;
  return said === null || read === undefined ? null : { from: said.from, answer: read };
}

function unpacked(text: string, id: string): { from: string; value: unknown } | null {
  const end = text.indexOf(" ");
  if (end < 1 || (end === id.length && text.startsWith(id))) return null;
  return { from: text.slice(0, end), value: parseJson(text.slice(end + 1)) };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}
