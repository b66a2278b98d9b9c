import { isDigit, isExponent, MINUS, POINT, ZERO } from "./json-bytes.ts";

// How far a number has come: behind its minus, its leading zero, ...
const BEFORE = 0;
const BEHIND_MINUS = 1;
const BEHIND_ZERO = 2;
const IN_DIGITS = 3;
const BEHIND_POINT = 4;
const IN_FRACTION = 5;
const BEHIND_E = 6;
const BEHIND_SIGN = 7;
const IN_EXPONENT = 8;

/** The byte is no part of the number. */
export const NO_PART = 9;

/** Where a number is with `byte` as its first one, or NO_PART. */
export function firstOfNumber(byte: number): number {
  return nextOfNumber(BEFORE, byte);
}

/** Where a number that was at `place` is behind one more byte, or NO_PART. */
export function nextOfNumber(place: number, byte: number): number {
  return STEPS[place * 256 + byte] as number;
}

/** Whether a number may end there. */
export function isWholeNumber(place: number): boolean {
  return place === BEHIND_ZERO || place === IN_DIGITS || place === IN_FRACTION || place === IN_EXPONENT;
}

/** One look into a table for each byte: long lists of numbers are sent for embeddings. */
const STEPS = Uint8Array.from({ length: NO_PART * 256 }, (_, i) => step(i >> 8, i & 255));

function step(place: number, byte: number): number {
  if (isDigit(byte)) return afterDigit(place, byte);
  if (byte === MINUS && place === BEFORE) return BEHIND_MINUS;
  const hasWhole = place === IN_DIGITS || place === BEHIND_ZERO;
  if (byte === POINT && hasWhole) return BEHIND_POINT;
  if (isExponent(byte) && (hasWhole || place === IN_FRACTION)) return BEHIND_E;
  return place === BEHIND_E && (byte === MINUS || byte === 0x2b) ? BEHIND_SIGN : NO_PART;
}

function afterDigit(place: number, byte: number): number {
  switch (place) {
    case BEFORE:
    case BEHIND_MINUS:
      return byte === ZERO ? BEHIND_ZERO : IN_DIGITS;
    case BEHIND_ZERO:
      return NO_PART;
    case BEHIND_POINT:
      return IN_FRACTION;
    case BEHIND_E:
    case BEHIND_SIGN:
      return IN_EXPONENT;
    default:
      return place;
  }
}
