import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  isEscape,
  isHexDigit,
  isSpace,
  literalFor,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from "./json-bytes.ts";
import { firstOfNumber, isWholeNumber, nextOfNumber, NO_PART } from "./json-number.ts";
import {
  AFTER_VALUE,
  expectedIn,
  FAILED,
  FIRST_BRACE,
  IN_ESCAPE,
  IN_HEX,
  IN_LITERAL,
  IN_NUMBER,
  IN_STRING,
  KEY,
  KEY_COLON,
  KEY_OR_CLOSE,
  NOTHING,
  VALUE,
  VALUE_OR_CLOSE,
} from "./json-states.ts";
import type { JsonVisitor } from "./json-visitor.ts";
import { PlainRun } from "./plain-run.ts";

/** Levels of arrays and objects that a body may nest; far above any real request. */
const MAX_DEPTH = 200;

/** Longer keys are told without their bytes: none that anybody looks for has more than 12 letters, six bytes each. */
const KEY_BYTES = 6 * 12 + 2;

const NO_BYTES = Buffer.alloc(0);

/** Beyond every chunk: ends the loops over one. */
const NOWHERE = Number.MAX_SAFE_INTEGER;

/**
 * Walks over the bytes of a JSON object (RFC 8259) as they come, in chunks split anywhere, and validates as it goes,
 * without building values and without looking at a byte twice. Bytes from 0x80 up are taken as they are inside strings:
 * whether they are good UTF-8 is the worker's to judge.
 */
export class JsonWalker {
  readonly #visitor: JsonVisitor;
  #state = FIRST_BRACE;
  /** Bytes of earlier chunks. */
  #offset = 0;
  /** Levels that are open. */
  #depth = 0;
  /** Whether the innermost of them is an object, */
  #inObject = false;
  /** and whether those around it are, from the outside. */
  readonly #outer: boolean[] = [];
  /** The string under way is a key. */
  #isKey = false;
  /** Bytes of it that are needed. */
  #needed = 0;
  /** Where it begins in this chunk. */
  #from = 0;
  /** What is needed of it and came in earlier chunks. */
  #carried: Buffer = NO_BYTES;
  /** Hex digits of the escape that are still to come. */
  #hexLeft = 0;
  #literal = "";
  /** Letters of the literal that have come. */
  #letters = 0;
  /** How far the number under way has come. */
  #number = 0;
  #problem: string | null = null;

  constructor(visitor: JsonVisitor) {
    this.#visitor = visitor;
  }

  /** Why it is not a JSON object, as far as is known by now: what was expected, and at which byte. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether anything but white space has come. */
  get hasBegun(): boolean {
    return this.#state !== FIRST_BRACE;
  }

  /** The next bytes; they are not kept. */
  push(bytes: Buffer): void {
    if (this.#state === FAILED) return;
    const run = new PlainRun(bytes);
    this.#from = 0;
    let at = 0;
    while (at < bytes.length) {
      if (this.#state < IN_STRING) at = this.#betweenTokens(bytes, at);
      else if (this.#state === IN_STRING) at = this.#inString(bytes, at, run);
      else if (this.#state < IN_LITERAL) at = this.#inEscape(bytes, at);
      else if (this.#state === IN_LITERAL) at = this.#inLiteral(bytes, at);
      else at = this.#inNumber(bytes, at);
    }
    if (this.#needed > 0) this.#carry(bytes);
    this.#offset += bytes.length;
  }

  /** No more bytes come. Answers why it is not a JSON object; null: it is one. */
  end(): string | null {
    if (this.#state === NOTHING || this.#state === FAILED) return this.#problem;
    const inString = this.#state >= IN_STRING && this.#state < IN_LITERAL;
    this.#fail(
      inString
        ? "the string is not closed"
        : `expected ${expectedIn(this.#state, this.#number, this.#inObject)}, the body ends`,
      0,
    );
    return this.#problem;
  }

  #betweenTokens(bytes: Buffer, from: number): number {
    let at = from;
    while (at < bytes.length && this.#state < IN_STRING) {
      const byte = bytes[at] as number;
      at = isSpace(byte) ? at + 1 : this.#token(byte, at);
    }
    return at;
  }

  /** Takes the byte outside of strings, numbers and literals; answers where to go on. */
  #token(byte: number, at: number): number {
    switch (this.#state) {
      case AFTER_VALUE:
        if (byte === COMMA) this.#state = this.#inObject ? KEY : VALUE;
        else if (byte === (this.#inObject ? CLOSE_BRACE : CLOSE_BRACKET)) this.#close(at);
        else return this.#refuse(at);
        return at + 1;
      case KEY_COLON:
        if (byte !== COLON) return this.#refuse(at);
        this.#state = VALUE;
        return at + 1;
      case KEY:
      case KEY_OR_CLOSE:
        if (byte === QUOTE) this.#beginString(at, true, this.#depth > this.#visitor.maxDepth ? 0 : KEY_BYTES);
        else if (byte === CLOSE_BRACE && this.#state === KEY_OR_CLOSE) this.#close(at);
        else return this.#refuse(at);
        return at + 1;
      case VALUE:
        return this.#beginValue(byte, at);
      case VALUE_OR_CLOSE:
        if (byte !== CLOSE_BRACKET) return this.#beginValue(byte, at);
        this.#close(at);
        return at + 1;
      case FIRST_BRACE:
        return byte === OPEN_BRACE ? this.#beginValue(byte, at) : this.#refuse(at);
      default:
        return this.#refuse(at);
    }
  }

  /** Answers where to go on. */
  #beginValue(first: number, at: number): number {
    const depth = this.#depth;
    const needed = depth > this.#visitor.maxDepth ? 0 : this.#visitor.begin(depth, first, this.#offset + at);
    if (first === QUOTE) {
      this.#beginString(at, false, needed);
    } else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      if (depth === MAX_DEPTH) return this.#fail(`nested deeper than ${MAX_DEPTH} levels`, at);
      this.#outer[depth] = this.#inObject;
      this.#depth = depth + 1;
      this.#inObject = first === OPEN_BRACE;
      this.#state = this.#inObject ? KEY_OR_CLOSE : VALUE_OR_CLOSE;
    } else {
      return this.#beginScalar(first, at);
    }
    return at + 1;
  }

  #beginScalar(first: number, at: number): number {
    const number = firstOfNumber(first);
    const literal = literalFor(first);
    if (number !== NO_PART) {
      this.#number = number;
      this.#state = IN_NUMBER;
    } else if (literal !== null) {
      this.#literal = literal;
      this.#letters = 1;
      this.#state = IN_LITERAL;
    } else {
      return this.#refuse(at);
    }
    return at + 1;
  }

  #close(at: number): void {
    this.#depth -= 1;
    this.#inObject = this.#outer[this.#depth] === true;
    this.#endValue(at + 1, NO_BYTES, 0, 0);
  }

  #endValue(at: number, bytes: Buffer, start: number, end: number): void {
    const depth = this.#depth;
    this.#state = depth === 0 ? NOTHING : AFTER_VALUE;
    if (depth <= this.#visitor.maxDepth) this.#visitor.end(depth, this.#offset + at, bytes, start, end);
  }

  #beginString(at: number, isKey: boolean, needed: number): void {
    this.#state = IN_STRING;
    this.#isKey = isKey;
    this.#needed = needed;
    this.#from = at;
  }

  #inString(bytes: Buffer, from: number, run: PlainRun): number {
    const { length } = bytes;
    let at = from;
    while (at < length) {
      const byte = bytes[at] as number;
      if (byte === QUOTE) return this.#endString(bytes, at + 1);
      if (byte === BACKSLASH) {
        if (at + 1 < length && isEscape(bytes[at + 1] as number)) {
          at += 2;
        } else {
          this.#state = IN_ESCAPE;
          return at + 1;
        }
      } else if (byte >= 0x20) {
        at = run.end(at + 1);
      } else {
        return this.#fail("a control character in a string", at);
      }
    }
    return at;
  }

  #inEscape(bytes: Buffer, from: number): number {
    let at = from;
    if (this.#state === IN_ESCAPE) {
      const byte = bytes[at] as number;
      if (byte !== 0x75) {
        if (!isEscape(byte)) return this.#fail("an unknown escape in a string", at - 1);
        this.#state = IN_STRING;
        return at + 1;
      }
      this.#state = IN_HEX;
      this.#hexLeft = 4;
      at += 1;
    }
    for (; at < bytes.length && this.#hexLeft > 0; at += 1) {
      if (!isHexDigit(bytes[at] as number)) return this.#fail("four hex digits must follow \\u", at);
      this.#hexLeft -= 1;
    }
    if (this.#hexLeft === 0) this.#state = IN_STRING;
    return at;
  }

  /** The string under way ends before `to`. */
  #endString(bytes: Buffer, to: number): number {
    const before = this.#carried.length;
    const isWanted = this.#needed > 0 && before + to - this.#from <= this.#needed;
    let held = bytes;
    let start = isWanted ? this.#from : to;
    let end = to;
    if (isWanted && before > 0) {
      held = Buffer.concat([this.#carried, bytes.subarray(0, to)]);
      start = 0;
      end = held.length;
    }
    this.#needed = 0;
    this.#carried = NO_BYTES;
    if (this.#isKey) {
      this.#state = KEY_COLON;
      if (this.#depth <= this.#visitor.maxDepth) this.#visitor.key(this.#depth, held, start, end);
    } else {
      this.#endValue(to, held, start, end);
    }
    return to;
  }

  /** The chunk ends inside a string that is needed. */
  #carry(bytes: Buffer): void {
    const isShort = this.#carried.length + bytes.length - this.#from <= this.#needed;
    this.#carried = isShort ? Buffer.concat([this.#carried, bytes.subarray(this.#from)]) : NO_BYTES;
    if (!isShort) this.#needed = 0;
  }

  #inLiteral(bytes: Buffer, from: number): number {
    const literal = this.#literal;
    let at = from;
    for (; at < bytes.length && this.#letters < literal.length; at += 1) {
      if (bytes[at] !== literal.charCodeAt(this.#letters)) return this.#refuse(at - this.#letters);
      this.#letters += 1;
    }
    if (this.#letters === literal.length) this.#endValue(at, NO_BYTES, 0, 0);
    return at;
  }

  #inNumber(bytes: Buffer, from: number): number {
    let at = from;
    let place = this.#number;
    for (; at < bytes.length; at += 1) {
      const next = nextOfNumber(place, bytes[at] as number);
      if (next === NO_PART) break;
      place = next;
    }
    this.#number = place;
    if (at === bytes.length) return at;
    if (!isWholeNumber(this.#number)) return this.#refuse(at);
    this.#endValue(at, NO_BYTES, 0, 0);
    return at;
  }

  #refuse(at: number): number {
    return this.#fail(`expected ${expectedIn(this.#state, this.#number, this.#inObject)}, found something else`, at);
  }

  #fail(problem: string, at: number): number {
    this.#problem = `${problem} at byte ${this.#offset + at}`;
    this.#state = FAILED;
    this.#needed = 0;
    return NOWHERE;
  }
}
