/** A part's headers are no longer, in bytes; */
const MAX_HEAD = 8 * 1_024;
/** and a form has no more parts. */
const MAX_PARTS = 1_000;
/** White space that may follow a boundary on its line. */
const MAX_PADDING = 100;

/** Hears of the parts of a form. Places are byte offsets in the body. */
export interface FormVisitor {
  /** A part's head has come, without the empty line behind it; its value begins at `at`. A string refuses the form. */
  part(head: string, at: number): string | null;
  /** The value of the last part ended before `at`, which may be a place in earlier bytes. */
  partEnd(at: number): void;
}

// In a value, or in what stands before the first boundary.
const SEEKING = 0;
// Behind a boundary: at the next byte, behind one dash, behind white space, behind CR.
const BEHIND_BOUNDARY = 1;
const BEHIND_DASH = 2;
const IN_PADDING = 3;
const BEHIND_CR = 4;
const IN_HEAD = 5;
const ENDED = 6;
const FAILED = 7;

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;

/** Beyond every chunk: ends the loop over one. */
const NOWHERE = Number.MAX_SAFE_INTEGER;

/**
 * Walks over the bytes of a `multipart/form-data` body (RFC 2046, 7578) as they come, in chunks split anywhere, and
 * keeps none of them: at the end of a chunk it only remembers how much of the boundary's line it has seen. What stands
 * before the first boundary and behind the last means nothing.
 */
export class FormWalker {
  readonly #visitor: FormVisitor;
  /** The boundary with what stands before it. */
  readonly #line: Buffer;
  #state = SEEKING;
  /** Bytes of the boundary's line that the last bytes are. A body begins as if behind a line. */
  #matched = 2;
  /** Bytes of earlier chunks. */
  #offset = 0;
  /** Where the last boundary's line begins. */
  #lineAt = 0;
  #padding = 0;
  #head = "";
  #parts = 0;
  /** Where the value under way begins; null: none is. */
  #valueAt: number | null = null;
  #firstAt: number | null = null;
  #problem: string | null = null;

  constructor(boundary: string, visitor: FormVisitor) {
    this.#line = Buffer.from(`\r\n--${boundary}`, "latin1");
    this.#visitor = visitor;
  }

  /** Why it is no form, as far as is known by now. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Where the first boundary's dashes stand; null: none has come. */
  get firstAt(): number | null {
    return this.#firstAt;
  }

  /** The next bytes; they are not kept. */
  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#state === SEEKING) at = this.#seek(bytes, at);
      else if (this.#state < IN_HEAD) at = this.#behindBoundary(bytes[at] as number, at);
      else if (this.#state === IN_HEAD) at = this.#inHead(bytes, at);
      else break;
    }
    this.#offset += bytes.length;
  }

  /** No more bytes come. Answers why it is no form; null: it is one. */
  end(): string | null {
    if (this.#state === ENDED || this.#state === FAILED) return this.#problem;
    if (this.#offset === 0) return "it is empty";
    return this.#firstAt === null ? "the boundary of its content-type is not in it" : "its last boundary is missing";
  }

  #seek(bytes: Buffer, from: number): number {
    const line = this.#line;
    let at = from;
    while (this.#matched > 0 && at < bytes.length) {
      if (bytes[at] !== line[this.#matched]) {
        // A line has one CR, at its start: no other beginning of one can be in what matched.
        this.#matched = 0;
        break;
      }
      at += 1;
      this.#matched += 1;
      if (this.#matched === line.length) return this.#found(at);
    }
    if (at === bytes.length) return at;
    const found = bytes.indexOf(line, at);
    if (found >= 0) return this.#found(found + line.length);
    const tail = bytes.subarray(Math.max(at, bytes.length - line.length + 1));
    const beginning = tail.subarray(Math.max(0, tail.lastIndexOf(CR)));
    this.#matched = beginning.equals(line.subarray(0, beginning.length)) ? beginning.length : 0;
    return bytes.length;
  }

  /** The bytes of a boundary end before `at`. */
  #found(at: number): number {
    this.#lineAt = this.#offset + at - this.#line.length;
    this.#matched = 0;
    this.#padding = 0;
    this.#state = BEHIND_BOUNDARY;
    return at;
  }

  /** What follows says whether it is the boundary; a value may hold its very bytes. Answers where to go on. */
  #behindBoundary(byte: number, at: number): number {
    const state = this.#state;
    const isPadding = (byte === 0x20 || byte === 0x09) && state !== BEHIND_DASH && state !== BEHIND_CR;
    if (state === BEHIND_CR && byte === LF) return this.#beginPart(at + 1);
    if (state === BEHIND_DASH && byte === DASH) return this.#close(at + 1);
    if (byte === DASH && state === BEHIND_BOUNDARY) this.#state = BEHIND_DASH;
    else if (byte === CR && (state === BEHIND_BOUNDARY || state === IN_PADDING)) this.#state = BEHIND_CR;
    else if (isPadding && this.#padding < MAX_PADDING) {
      this.#padding += 1;
      this.#state = IN_PADDING;
    } else {
      this.#state = SEEKING;
      return at;
    }
    return at + 1;
  }

  #beginPart(at: number): number {
    if (!this.#endValue()) return NOWHERE;
    this.#firstAt ??= this.#lineAt + 2;
    this.#parts += 1;
    if (this.#parts > MAX_PARTS) return this.#fail(`it has more than ${MAX_PARTS} parts`);
    this.#state = IN_HEAD;
    // A head without a line has only the empty one behind it.
    this.#head = "\r\n";
    return at;
  }

  #close(at: number): number {
    if (!this.#endValue()) return NOWHERE;
    this.#firstAt ??= this.#lineAt + 2;
    this.#state = ENDED;
    return at;
  }

  #endValue(): boolean {
    if (this.#valueAt === null) return true;
    if (this.#lineAt < this.#valueAt) {
      // Some readers end the part here, others take the boundary as its value.
      this.#fail("a boundary follows a part's head without an empty line");
      return false;
    }
    this.#valueAt = null;
    this.#visitor.partEnd(this.#lineAt);
    return true;
  }

  #inHead(bytes: Buffer, at: number): number {
    const before = this.#head.length;
    this.#head += bytes.toString("latin1", at, Math.min(bytes.length, at + MAX_HEAD + 1 - before));
    const end = this.#head.indexOf("\r\n\r\n", Math.max(0, before - 3));
    if (end < 0) {
      return this.#head.length > MAX_HEAD ? this.#fail(`a part's head is over ${MAX_HEAD} bytes`) : bytes.length;
    }
    const next = at + end + 4 - before;
    const problem = this.#visitor.part(this.#head.slice(2, end), this.#offset + next);
    if (problem !== null) return this.#fail(problem);
    this.#head = "";
    this.#valueAt = this.#offset + next;
    this.#state = SEEKING;
    this.#matched = 2;
    return next;
  }

  #fail(problem: string): number {
    this.#problem = problem;
    this.#state = FAILED;
    return NOWHERE;
  }
}
