import { parseJson } from "@farmgate/shared";
import { z } from "zod";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const entrySchema = z.object({
  path: z.string(),
  models: z.array(z.string()),
  state: z.enum(["here", "missing", "fetching", "failed"]),
  bytes: z.int().min(0).nullable(),
  sha256: sha256.nullable(),
  /** Bytes that are here of a file on its way, and from whom they come. */
  fetched: z.number().optional(),
  from: z.string().optional(),
  /** How fast it comes, and about how long the rest takes; null: not known yet. */
  bytes_per_second: z.number().nullable().optional(),
  left_ms: z.number().nullable().optional(),
  /** Why it could not be fetched. */
  error: z.string().optional(),
});

/** One line of `GET /files`. `here` with `sha256` null: it is still being read for that. */
export type FileEntry = z.output<typeof entrySchema>;

/** How many take a file now, and the limit that they share, in bytes a second; 0: none. */
const sending = z.object({ takers: z.int().min(0), bytes_per_second: z.number().min(0) });

const listingSchema = z.object({ files: z.array(entrySchema), sending: sending.nullish().catch(null) });

export interface Listing {
  files: readonly FileEntry[];
  /** What one more who takes a file has of that agent's limit, in bytes a second; null: it tells of none. */
  shared: number | null;
}

/** What another agent lists; null: that is no such listing. */
export function readListing(text: string): Listing | null {
  const read = listingSchema.safeParse(parseJson(text));
  if (!read.success) return null;
  const { files, sending } = read.data;
  const isLimited = sending != null && sending.bytes_per_second > 0;
  return { files, shared: isLimited ? sending.bytes_per_second / (sending.takers + 1) : null };
}
