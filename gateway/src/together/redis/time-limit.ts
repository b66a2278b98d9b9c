import type { Clock } from "@farmgate/shared";

/** Nothing came in time. */
export class TooSlow extends Error {}

/**
 * Rejects with `TooSlow` after `ms`. Not at once: where this program was busy itself the answer lies there unread, and is
 * read in the next turn of the loop.
 */
export function withLimit<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let stop = clock.after(ms, () => {
      stop = clock.after(1, () => reject(new TooSlow()));
    });
    work.then(resolve, reject).finally(() => stop());
  });
}
