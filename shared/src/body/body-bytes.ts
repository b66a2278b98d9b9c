/** The bytes of a body, in the pieces in which they came: putting them together would take its memory twice. */
export class BodyBytes {
  readonly pieces: readonly Buffer[];
  /** In bytes. */
  readonly length: number;

  constructor(pieces: readonly Buffer[]) {
    this.pieces = pieces;
    this.length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  /** The bytes `[start, end)`, in pieces that are not copied. */
  range(start: number, end: number): Buffer[] {
    const found: Buffer[] = [];
    let at = 0;
    for (const piece of this.pieces) {
      if (at >= end) break;
      const from = Math.max(start - at, 0);
      const to = Math.min(end - at, piece.length);
      if (from < to) found.push(from === 0 && to === piece.length ? piece : piece.subarray(from, to));
      at += piece.length;
    }
    return found;
  }

  /** All of them in one. A single piece is not copied. */
  joined(): Buffer {
    const [first] = this.pieces;
    return this.pieces.length === 1 && first !== undefined ? first : Buffer.concat(this.pieces, this.length);
  }
}

/** That of a request whose bytes were let go. */
export const NO_BODY = new BodyBytes([]);
