/** First and last byte, both counted from 0. */
export interface ByteRange {
  first: number;
  last: number;
}

/**
 * The one range that a `range` header asks for (RFC 9110, 14.2), of a file of `bytes`. null: all of it, which is also the
 * answer to what is not understood and to several ranges; `none`: nothing of the file is in it.
 */
export function readRange(header: string | undefined, bytes: number): ByteRange | "none" | null {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "");
  if (match === null) return null;
  const [, from = "", to = ""] = match;
  if (from === "" && to === "") return null;
  if (from === "") {
    const length = Math.min(Number(to), bytes);
    return length === 0 ? "none" : { first: bytes - length, last: bytes - 1 };
  }
  const first = Number(from);
  if (to !== "" && Number(to) < first) return null;
  return first >= bytes ? "none" : { first, last: to === "" ? bytes - 1 : Math.min(Number(to), bytes - 1) };
}

/** Where the piece of an answer 206 begins, by its `content-range`, and how long the whole file is; null: not told. */
export function readContentRange(header: string | null): { first: number; bytes: number } | null {
  const match = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15})$/.exec(header?.trim() ?? "");
  return match === null ? null : { first: Number(match[1]), bytes: Number(match[2]) };
}
