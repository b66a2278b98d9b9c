/** A file that is not here, and how far it is. */
export interface ComingFile {
  state: "missing" | "fetching" | "failed";
  bytes: number | null;
  fetched: number;
  from: string | null;
  error: string | null;
  /** Of the fetch under way: when its first piece came, and how many bytes of the file were here before it. */
  began: { at: number; fetched: number } | null;
  /** Bytes a second that its peer was known for before; null: not known. */
  expected: number | null;
}

export const NOT_COMING: ComingFile = {
  state: "missing",
  bytes: null,
  fetched: 0,
  from: null,
  error: null,
  began: null,
  expected: null,
};

/** Before so many milliseconds what has come tells of the first pieces alone. */
const TELLING_MS = 1_000;

/** Bytes a second of the fetch under way, else what its peer is known for; null: not known. */
export function speedOf({ state, fetched, began, expected }: ComingFile, now: number): number | null {
  if (state !== "fetching" || began === null || now - began.at < TELLING_MS) return expected;
  return (1_000 * (fetched - began.fetched)) / (now - began.at);
}

/** Until it is here, in milliseconds, at that many bytes a second; null: not known, as of one that could not be fetched. */
export function leftMs({ state, bytes, fetched }: ComingFile, bytesPerSecond: number | null): number | null {
  if (state === "failed" || bytes === null || bytesPerSecond === null || bytesPerSecond <= 0) return null;
  return (1_000 * (bytes - fetched)) / bytesPerSecond;
}
