import { z } from "zod";
import type { DrainNote, News } from "./news.ts";
import { told, toldEvent, toldPoll } from "./told-catalog.ts";

/** Beyond that no later word could be given: one more is the same number. */
const at = z.number().max(Number.MAX_SAFE_INTEGER);
const note = z.object({ worker: told.name, draining: z.boolean(), at });
const pair = { worker: told.name, key: told.name };

const complete = z.object({
  found: z.enum(["warm", "cold"]),
  streamed: z.boolean(),
  firstByteMs: told.ms,
  ms: told.ms,
});
const rated = z.object({ bytes: told.ms, streamed: z.boolean(), firstByteMs: told.ms, lastByteMs: told.ms });
const count = told.ms.nullable();
const usage = z.object({ prompt: count, completion: count });
const figures = z.object({
  worker: told.name.nullable(),
  bytes: count,
  inputMs: count,
  outputMs: count,
  onTime: z.boolean().nullable(),
});
const asked = z.object({ ...pair, api: told.name, streamed: z.boolean() });

/** The news that are read here; other kinds have readers of their own. */
const news = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("catalog"), event: toldEvent, ageMs: told.ms }),
  z.object({
    kind: z.literal("polled"),
    worker: told.name,
    ageMs: told.ms,
    hash: told.name,
    result: toldPoll.nullable(),
  }),
  z.object({ kind: z.literal("drain"), note }),
  z.object({ kind: z.literal("answered-prefix"), hash: told.name, worker: told.name }),
  z.object({ kind: z.literal("learned"), ...pair, answer: complete }),
  z.object({ kind: z.literal("rated"), ...pair, answer: rated }),
  z.object({ kind: z.literal("first-byte"), asked, ms: told.ms.nullable(), ageMs: told.ms }),
  z.object({ kind: z.literal("asked"), key: told.name }),
  z.object({ kind: z.literal("ended"), key: told.name, figures, usage: usage.nullable() }),
]) satisfies z.ZodType<News>;

export type ReadNews = z.output<typeof news>;

/** News come from other machines, and from other releases: what is not as it should be is null, and so is another kind. */
export function readNews(value: unknown): ReadNews | null {
  const read = news.safeParse(value);
  return read.success ? read.data : null;
}

/** The drains that an answer to `state` tells of; those that cannot be read are left out. */
export function readDrains(answer: unknown): DrainNote[] {
  const read = z.object({ drains: z.array(z.unknown()) }).safeParse(answer);
  if (!read.success) return [];
  return read.data.drains.flatMap((value) => note.safeParse(value).data ?? []);
}
