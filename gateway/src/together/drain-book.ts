import type { DrainNote } from "./news.ts";

/** The last word on each worker, by its name. An immutable value. */
export type DrainBook = ReadonlyMap<string, DrainNote>;

export const NO_NOTES: DrainBook = new Map();

/** Notes that are kept; the one changed longest ago is forgotten first. */
const NOTES = 10_000;

/** A word that is given now: later than all that is known, whatever the clocks of the others say. */
export function noteOf(book: DrainBook, worker: string, draining: boolean, wall: number): DrainNote {
  const last = book.get(worker);
  return { worker, draining, at: last === undefined ? wall : Math.max(wall, last.at + 1) };
}

/** The book with the note, if it is news; else the very same. Of two at one moment the one that drains holds. */
export function withNote(book: DrainBook, note: DrainNote): DrainBook {
  const last = book.get(note.worker);
  if (last !== undefined && !isNewer(note, last)) return book;
  const next = new Map(book);
  next.delete(note.worker);
  next.set(note.worker, note);
  for (const oldest of next.keys()) {
    if (next.size <= NOTES) break;
    next.delete(oldest);
  }
  return next;
}

function isNewer(note: DrainNote, last: DrainNote): boolean {
  return note.at > last.at || (note.at === last.at && note.draining && !last.draining);
}
