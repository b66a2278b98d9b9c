/** Below this size a view costs more than it saves. */
const WORTH_A_VIEW = 64;

const NO_WORDS = new Int32Array(0);

/**
 * Passes over the bytes of JSON strings that need no look of their own, eight at a time: a word is passed when no byte
 * of it is below 0x20, a quote or a backslash ("Bit Twiddling Hacks", S. E. Anderson: "hasless" and "haszero").
 */
export class PlainRun {
  readonly #words: Int32Array;
  /** Index in the bytes of the first word. */
  readonly #first: number;

  constructor(bytes: Buffer) {
    const first = (4 - (bytes.byteOffset & 3)) & 3;
    const count = bytes.length < WORTH_A_VIEW ? 0 : (bytes.length - first) >> 2;
    this.#words = count === 0 ? NO_WORDS : new Int32Array(bytes.buffer, bytes.byteOffset + first, count);
    this.#first = first;
  }

  /** The first byte from `from` on, an index in the bytes, that may need a look. */
  end(from: number): number {
    const fromFirst = from - this.#first;
    if ((fromFirst & 3) !== 0 || fromFirst < 0) return from;
    const words = this.#words;
    const last = words.length - 1;
    let index = fromFirst >> 2;
    while (
      index < last &&
      ((special(words[index] as number) | special(words[index + 1] as number)) & HIGH_BITS) === 0
    ) {
      index += 2;
    }
    if (index <= last && (special(words[index] as number) & HIGH_BITS) === 0) index += 1;
    return this.#first + (index << 2);
  }
}

const HIGH_BITS = 0x80808080;

/**
 * The high bit of a byte is set if it needs a look; the other bits mean nothing. A byte's own high bit is that of its
 * exclusive or with the quote or the backslash as well, so that one mask serves all three tests.
 */
function special(word: number): number {
  const quote = word ^ 0x22222222;
  const slash = word ^ 0x5c5c5c5c;
  return ((word - 0x20202020) | (quote - 0x01010101) | (slash - 0x01010101)) & ~word;
}
