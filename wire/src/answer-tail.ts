/** What of an answer's end is kept at least: usage and timings stand in a stream's last events or at a body's end. */
const KEEP_BYTES = 2_048;
/** More pieces than this are joined to one, so that a stream in tiny pieces costs little memory too. */
const MOST_PIECES = 64;

/** Keeps the end of an answer beside the byte path, by reference: while it flows nothing of it is read. */
export class AnswerTail {
  #pieces: Buffer[] = [];
  #bytes = 0;

  /** What it keeps alive. */
  get heldBytes(): number {
    return this.#bytes;
  }

  add(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    for (let oldest = this.#pieces[0]; oldest !== undefined; oldest = this.#pieces[0]) {
      if (this.#bytes - oldest.length < KEEP_BYTES) break;
      this.#pieces.shift();
      this.#bytes -= oldest.length;
    }
    if (this.#pieces.length <= MOST_PIECES) return;
    const joined = Buffer.concat(this.#pieces, this.#bytes).subarray(-KEEP_BYTES);
    this.#pieces = [joined];
    this.#bytes = joined.length;
  }

  /** Whether the bytes so far end with a complete event (a blank line) or line; nothing yet is as good. */
  atBoundary(of: "event" | "line"): boolean {
    if (this.#bytes === 0) return true;
    const end = Buffer.concat(this.#pieces.slice(-4).map((piece) => piece.subarray(-4))).toString("latin1");
    return of === "line" ? end.endsWith("\n") : /(?:\n\n|\r\r|\n\r\n)$/.test(end);
  }

  /** The last 2 to 4 KB. What is looked for in it is ASCII, so that no character has to be decoded. */
  text(): string {
    const bytes = this.#pieces.length === 1 && this.#pieces[0] ? this.#pieces[0] : Buffer.concat(this.#pieces);
    return bytes.toString("latin1", Math.max(0, bytes.length - 2 * KEEP_BYTES));
  }
}
