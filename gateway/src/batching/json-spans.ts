import type { Span } from "@farmgate/shared";

/** A member of an object: its key, decoded, and where its value stands. */
export interface Member extends Span {
  key: string;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Where the values of some JSON stand, so that they can be cut out as they are: a number that is read and printed
 * again may come out as another text. What a value holds inside is not checked, but for its strings and brackets.
 * Answers null or -1 for what cannot be followed.
 */
export class JsonSpans {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /**
   * Reads a document that is an object, in one pass: `member` gets each key and where its value starts, and tells where
   * that ends. False: it is none, or `member` gave up with -1.
   */
  document(member: (key: string, start: number) => number): boolean {
    const end = this.object(this.#blank(0), member);
    return end >= 0 && this.#blank(end) === this.bytes.length;
  }

  /** As `document`, for an object that starts here; tells where it ends, or -1. */
  object(start: number, member: (key: string, start: number) => number): number {
    return this.#list(start, OPEN_BRACE, CLOSE_BRACE, (at) => {
      const keyEnd = this.bytes[at] === QUOTE ? this.#stringEnd(at) : -1;
      const key = keyEnd < 0 ? null : this.text({ start: at, end: keyEnd });
      const colon = keyEnd < 0 ? -1 : this.#blank(keyEnd);
      return key === null || this.bytes[colon] !== COLON ? -1 : member(key, this.#blank(colon + 1));
    });
  }

  /** As `object`, for an array. */
  array(start: number, element: (start: number) => number): number {
    return this.#list(start, OPEN_BRACKET, CLOSE_BRACKET, element);
  }

  /** The members of an object, in order, repeated keys too; null: it is none. */
  members({ start }: Span): Member[] | null {
    const members: Member[] = [];
    const end = this.object(start, (key, at) => {
      const value = { key, start: at, end: this.valueEnd(at) };
      members.push(value);
      return value.end;
    });
    return end < 0 ? null : members;
  }

  /** The elements of an array; null: it is none. */
  elements({ start }: Span): Span[] | null {
    const elements: Span[] = [];
    const end = this.array(start, (at) => {
      const value = { start: at, end: this.valueEnd(at) };
      elements.push(value);
      return value.end;
    });
    return end < 0 ? null : elements;
  }

  /** Where the value ends that starts here; -1: none does. */
  valueEnd(start: number): number {
    const first = this.bytes[start];
    if (first === QUOTE) return this.#stringEnd(start);
    if (first === OPEN_BRACE || first === OPEN_BRACKET) return this.#nestedEnd(start);
    const end = this.#bareEnd(start);
    return end > start ? end : -1;
  }

  /** The first byte of a value as a character. */
  first({ start }: Span): string {
    return String.fromCharCode(this.bytes[start] ?? 0);
  }

  /** A value as it is written. */
  raw({ start, end }: Span): string {
    return this.bytes.toString("utf8", start, end);
  }

  /** A string, decoded; null: it is none. */
  text(span: Span): string | null {
    if (this.bytes[span.start] !== QUOTE) return null;
    const raw = this.raw(span);
    if (!raw.includes("\\")) return raw.slice(1, -1);
    try {
      return JSON.parse(raw) as string;
    } catch {
      return null;
    }
  }

  /** A whole number from 0 up, however it is written; null: it is none that can be counted with. */
  count(span: Span): number | null {
    if (span.end - span.start > 24) return null;
    const raw = this.raw(span);
    const value = /^\d/.test(raw) ? Number(raw) : Number.NaN;
    return Number.isSafeInteger(value) ? value : null;
  }

  /** Goes through what stands between two brackets; `one` reads what starts there and tells where it ends. */
  #list(start: number, open: number, close: number, one: (at: number) => number): number {
    if (this.bytes[start] !== open) return -1;
    let at = this.#blank(start + 1);
    if (this.bytes[at] === close) return at + 1;
    for (;;) {
      const end = one(at);
      if (end < 0) return -1;
      at = this.#blank(end);
      if (this.bytes[at] === close) return at + 1;
      if (this.bytes[at] !== COMMA) return -1;
      at = this.#blank(at + 1);
    }
  }

  #blank(from: number): number {
    let at = from;
    for (; at < this.bytes.length; at += 1) {
      const byte = this.bytes[at];
      if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) break;
    }
    return at;
  }

  #stringEnd(start: number): number {
    for (let at = start + 1; ; at += 1) {
      at = this.bytes.indexOf(QUOTE, at);
      if (at < 0) return -1;
      let slashes = 0;
      while (this.bytes[at - 1 - slashes] === BACKSLASH) slashes += 1;
      if (slashes % 2 === 0) return at + 1;
    }
  }

  #nestedEnd(start: number): number {
    const { bytes } = this;
    const { length } = bytes;
    let depth = 0;
    for (let at = start; at < length; at += 1) {
      const byte = bytes[at] as number;
      // Brackets stand high among the bytes, and a vector is all digits: most bytes end here.
      if (byte < OPEN_BRACKET && byte !== QUOTE) continue;
      if (byte === QUOTE) {
        const end = this.#stringEnd(at);
        if (end < 0) return -1;
        at = end - 1;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth += 1;
      else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        depth -= 1;
        if (depth === 0) return at + 1;
      }
    }
    return -1;
  }

  /** A number or a word. */
  #bareEnd(start: number): number {
    let at = start;
    while (isBare(this.bytes[at] ?? 0)) at += 1;
    return at;
  }
}

function isBare(byte: number): boolean {
  const isDigit = byte >= 0x30 && byte <= 0x39;
  const isLetter = (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7a;
  return isDigit || isLetter || byte === 0x2b || byte === 0x2d || byte === 0x2e;
}
