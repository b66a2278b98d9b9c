import { z } from "zod";
import type { News, Question } from "../news.ts";
import { countSchema, stepSchema } from "./record-fields.ts";

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

/** Who reads the news and the questions looks at what they hold; a part that is not as it should be is left out. */
const toldSchema = z.object({
  counts: z
    .object({
      step: stepSchema,
      fields: z.array(z.tuple([z.string(), countSchema])),
      isAll: z.boolean().exactOptional(),
    })
    .optional()
    .catch(undefined),
  news: z.array(z.custom<News>()).default([]).catch([]),
  question: z
    .object({ number: z.number(), question: z.custom<Question>(hasKind) })
    .optional()
    .catch(undefined),
  bye: z.boolean().default(false).catch(false),
  freed: z.boolean().default(false).catch(false),
});
export type ReadTold = z.output<typeof toldSchema>;

const answerSchema = z.object({ number: z.number(), value: z.unknown().optional() }) satisfies z.ZodType<Answer>;

/** What came over the channel that all hear; null: it is one's own, or none of ours. */
export function readTold(text: string, id: string): { from: string; told: ReadTold } | null {
  const message = readMessage(text, id);
  const told = toldSchema.safeParse(message?.told).data;
  return message === null || told === undefined ? null : { from: message.from, told };
}

/** What came over one's own channel; null: none of ours. */
export function readAnswer(text: string, id: string): { from: string; answer: Answer } | null {
  const message = readMessage(text, id);
  const answer = answerSchema.safeParse(message?.told).data;
  return message === null || answer === undefined ? null : { from: message.from, answer };
}

function readMessage(text: string, id: string): { from: string; told: unknown } | null {
  const end = text.indexOf(" ");
  if (end < 1 || (end === id.length && text.startsWith(id))) return null;
  try {
    return { from: text.slice(0, end), told: JSON.parse(text.slice(end + 1)) };
  } catch {
    return null;
  }
}

function hasKind(value: unknown): boolean {
  return typeof value === "object" && value !== null && "kind" in value && typeof value.kind === "string";
}
