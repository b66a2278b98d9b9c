/**
 * Hears of values and of keys, and of how many levels of arrays and objects are open around them. Places are byte offsets
 * in the body. The bytes of a string are `bytes[start, end)` with both quotes, none (`start === end`) where there are
 * more than were needed; they hold for the call alone.
 */
export interface JsonVisitor {
  /** It is told nothing of what stands inside more levels than this, which costs nothing then. */
  readonly maxDepth: number;
  key(depth: number, bytes: Buffer, start: number, end: number): void;
  /** A value begins, with the byte `first`. Answers how many bytes of it are needed if it is a string. */
  begin(depth: number, first: number, at: number): number;
  /** The value ended before `at`; it has bytes only if it is a string that was needed. */
  end(depth: number, at: number, bytes: Buffer, start: number, end: number): void;
}
