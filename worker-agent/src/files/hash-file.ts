import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";

/** Bytes at a time: between two of them everything else of the program goes on. */
const PIECE = 256 * 1_024;

/** SHA-256 over the first `bytes` of a file, as far as there are so many. Rejects when it cannot be read. */
export async function hashFile(file: string, bytes: number, signal: AbortSignal): Promise<Hash> {
  const hash = createHash("sha256");
  if (bytes === 0) return hash;
  for await (const piece of createReadStream(file, { end: bytes - 1, highWaterMark: PIECE, signal }))
    hash.update(piece);
  return hash;
}
