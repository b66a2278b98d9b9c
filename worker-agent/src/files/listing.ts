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
  /** Why it could not be fetched. */
  error: z.string().optional(),
});

/** One line of `GET /files`. `here` with `sha256` null: it is still being read for that. */
export type FileEntry = z.output<typeof entrySchema>;

const listingSchema = z.object({ files: z.array(entrySchema) });

/** What another agent lists; null: that is no such listing. */
export function readListing(text: string): readonly FileEntry[] | null {
  const read = listingSchema.safeParse(parseJson(text));
  return read.success ? read.data.files : null;
}
