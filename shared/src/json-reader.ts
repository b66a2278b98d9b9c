/** Levels of arrays and objects that a body may nest; far above any real request, far below the stack's end. */
const MAX_DEPTH = 200;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** A body that is not JSON; the message tells what was expected and at which byte. */
export class JsonSyntaxError extends Error {
  override readonly name = "JsonSyntaxError";
}

/** A value's bytes: `[start, end)`. */
export interface Span {
  start: number;
  end: number;
}

/**
 * Walks over JSON bytes (RFC 8259) and validates as it goes, without building values. Bytes from 0x80 up are taken
 * as they are inside strings: whether they are good UTF-8 is the worker's to judge. Throws JsonSyntaxError alone.
 */
export class JsonReader {
  readonly bytes: Buffer;
  /** The next byte to read. */
  at = 0;
  readonly #words: Int32Array;
  /** Index in `bytes` of the first word. */
  readonly #firstWord: number;
  #depth = 0;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    this.#firstWord = Math.min((4 - (bytes.byteOffset & 3)) & 3, bytes.length);
    const count = (bytes.length - this.#firstWord) >> 2;
    this.#words = new Int32Array(bytes.buffer, count === 0 ? 0 : bytes.byteOffset + this.#firstWord, count);
  }

  /** Skips white space and tells the byte that follows; -1 at the end. */
  peek(): number {
    const { bytes } = this;
    let at = this.at;
    for (; at < bytes.length; at += 1) {
      const byte = bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    }
    this.at = at;
    return bytes[at] ?? -1;
  }

  /** Refuses what follows the document. */
  end(): void {
    if (this.peek() !== -1) throw this.#expected("the end");
  }

  /** Reads an object; `member` gets each key and must read the value, with `value` or otherwise. */
  object(member: (key: Span) => void): void {
    this.#open(OPEN_BRACE, "an object");
    if (this.peek() === CLOSE_BRACE) return this.#close();
    for (;;) {
      if (this.peek() !== QUOTE) throw this.#expected("a key");
      const key = this.string();
      if (this.peek() !== COLON) throw this.#expected('":"');
      this.at += 1;
      member(key);
      const next = this.peek();
      if (next === CLOSE_BRACE) return this.#close();
      if (next !== COMMA) throw this.#expected('"," or "}"');
      this.at += 1;
    }
  }

  /** Reads an array; `element` must read one value each time. */
  array(element: () => void): void {
    this.#open(OPEN_BRACKET, "an array");
    if (this.peek() === CLOSE_BRACKET) return this.#close();
    for (;;) {
      element();
      const next = this.peek();
      if (next === CLOSE_BRACKET) return this.#close();
      if (next !== COMMA) throw this.#expected('"," or "]"');
      this.at += 1;
    }
  }

  /** Reads any value and tells its bytes. */
  value(): Span {
    const first = this.peek();
    const start = this.at;
    if (first === QUOTE) return this.string();
    if (first === OPEN_BRACE) this.object(this.#skip);
    else if (first === OPEN_BRACKET) this.array(this.#skip);
    else if (first === 0x2d || isDigit(first)) this.#number();
    else if (first === 0x74) this.#literal("true");
    else if (first === 0x66) this.#literal("false");
    else if (first === 0x6e) this.#literal("null");
    else throw this.#expected("a value");
    return { start, end: this.at };
  }

  /** Reads a string that starts here, and tells its bytes with both quotes. */
  string(): Span {
    const { bytes } = this;
    const start = this.at;
    let at = start + 1;
    for (;;) {
      const byte = bytes[at] ?? -1;
      if (byte === QUOTE) break;
      if (byte === BACKSLASH) at = this.#escape(at);
      else if (byte >= 0x20) at = this.#plain(at + 1);
      else throw this.#unexpected(at, byte === -1 ? "the string is not closed" : "a control character in a string");
    }
    this.at = at + 1;
    return { start, end: this.at };
  }

  /** Whether the string at `span` is `text`, which must be ASCII, however it is spelled. */
  is(span: Span, text: string): boolean {
    const length = span.end - span.start - 2;
    if (length === text.length) return this.bytes.toString("latin1", span.start + 1, span.end - 1) === text;
    // Escapes make a string longer: six bytes a character at most.
    return length > text.length && length <= text.length * 6 && this.text(span) === text;
  }

  /** The string at `span`, decoded. */
  text(span: Span): string {
    return JSON.parse(this.bytes.toString("utf8", span.start, span.end)) as string;
  }

  readonly #skip = (): void => {
    this.value();
  };

  /**
   * Passes over string bytes that need no look of their own, four at a time: a word is passed when no byte of it is
   * below 0x20, a quote or a backslash ("Bit Twiddling Hacks", S. E. Anderson: "hasless" and "haszero").
   */
  #plain(from: number): number {
    let at = from;
    const words = this.#words;
    if (((at - this.#firstWord) & 3) !== 0) return at;
    let index = (at - this.#firstWord) >> 2;
    if (index < 0) return at;
    for (; index < words.length; index += 1) {
      const word = words[index] as number;
      const quote = word ^ 0x22222222;
      const slash = word ^ 0x5c5c5c5c;
      const control = (word - 0x20202020) & ~word;
      if (((control | ((quote - 0x01010101) & ~quote) | ((slash - 0x01010101) & ~slash)) & 0x80808080) !== 0) break;
      at += 4;
    }
    return at;
  }

  /** Checks the escape at `at` and returns where it ends. */
  #escape(at: number): number {
    const letter = this.bytes[at + 1] ?? -1;
    if (letter === 0x75) {
      for (let i = at + 2; i < at + 6; i += 1) {
        if (!isHex(this.bytes[i] ?? -1)) throw this.#unexpected(i, "four hex digits must follow \\u");
      }
      return at + 6;
    }
    if (letter === -1 || !'"\\/bfnrt'.includes(String.fromCharCode(letter))) {
      throw this.#unexpected(at, "an unknown escape in a string");
    }
    return at + 2;
  }

  #number(): void {
    if (this.bytes[this.at] === 0x2d) this.at += 1;
    if (this.bytes[this.at] === 0x30) this.at += 1;
    else this.#digits();
    if (this.bytes[this.at] === 0x2e) {
      this.at += 1;
      this.#digits();
    }
    const exponent = this.bytes[this.at];
    if (exponent !== 0x65 && exponent !== 0x45) return;
    this.at += 1;
    const sign = this.bytes[this.at];
    if (sign === 0x2b || sign === 0x2d) this.at += 1;
    this.#digits();
  }

  #digits(): void {
    if (!isDigit(this.bytes[this.at] ?? -1)) throw this.#expected("a digit");
    while (isDigit(this.bytes[this.at] ?? -1)) this.at += 1;
  }

  #literal(word: string): void {
    if (this.bytes.toString("latin1", this.at, this.at + word.length) !== word) throw this.#expected("a value");
    this.at += word.length;
  }

  #open(byte: number, what: string): void {
    if (this.peek() !== byte) throw this.#expected(what);
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw this.#unexpected(this.at, `nested deeper than ${MAX_DEPTH} levels`);
    this.at += 1;
  }

  #close(): void {
    this.#depth -= 1;
    this.at += 1;
  }

  #expected(what: string): JsonSyntaxError {
    const found = this.at >= this.bytes.length ? "the body ends" : "found something else";
    return this.#unexpected(this.at, `expected ${what}, ${found}`);
  }

  #unexpected(at: number, problem: string): JsonSyntaxError {
    return new JsonSyntaxError(`${problem} at byte ${Math.min(at, this.bytes.length)}`);
  }
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
