import { BodyBytes } from "@farmgate/shared";

/** Pieces below this size are copied together: as objects of their own, tiny ones cost a hundred times their bytes. */
const SMALL = 4_096;
const BLOCK = 65_536;
/** The first pieces are kept as they are: most bodies have no more, and a block costs more than they do. */
const FEW = 32;

/** Made once: most bodies need no block, and even an empty one is dear to make. */
const NO_BLOCK = Buffer.alloc(0);

/** A body that comes in pieces, however many: tiny ones are copied together once there are more than a few. */
export class GatheredBytes {
  #pieces: Buffer[] = [];
  /** Small pieces since the last one that was kept: `[#from, #to)` of the block. */
  #block: Buffer = NO_BLOCK;
  #from = 0;
  #to = 0;
  length = 0;

  add(piece: Buffer): void {
    this.length += piece.length;
    if (piece.length >= SMALL || this.#pieces.length < FEW) {
      this.#closeBlock();
      this.#pieces.push(piece);
      return;
    }
    if (this.#to + piece.length > this.#block.length) {
      this.#closeBlock();
      this.#block = Buffer.allocUnsafe(BLOCK);
      this.#from = 0;
      this.#to = 0;
    }
    this.#to += piece.copy(this.#block, this.#to);
  }

  /** All of it, in pieces. */
  body(): BodyBytes {
    this.#closeBlock();
    return new BodyBytes(this.#pieces);
  }

  /** All of it. A single piece is not copied. */
  bytes(): Buffer {
    return this.body().joined();
  }

  #closeBlock(): void {
    if (this.#to > this.#from) this.#pieces.push(this.#block.subarray(this.#from, this.#to));
    this.#from = this.#to;
  }
}
