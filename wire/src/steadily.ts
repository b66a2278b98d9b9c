/**
 * The same clock, that never goes back: where `now` does, time goes on from the last that was told. All ages and pauses
 * are differences of two such times, and an hour back would make each an hour longer. A jump ahead is passed on.
 */
export function steadily(now: () => number): () => number {
  let last = Number.NEGATIVE_INFINITY;
  let behind = 0;
  return () => {
    const read = now();
    if (read + behind < last) behind = last - read;
    last = read + behind;
    return last;
  };
}
