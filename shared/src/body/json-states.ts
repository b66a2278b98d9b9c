import { isWholeNumber } from "./json-number.ts";

// What comes next, outside of strings, numbers and literals.
export const FIRST_BRACE = 0;
export const KEY_OR_CLOSE = 1;
export const KEY = 2;
export const KEY_COLON = 3;
export const VALUE_OR_CLOSE = 4;
export const VALUE = 5;
export const AFTER_VALUE = 6;
export const NOTHING = 7;
// Inside a string: at any byte of it, behind a backslash, at the hex digits of an escape.
export const IN_STRING = 8;
export const IN_ESCAPE = 9;
export const IN_HEX = 10;
export const IN_LITERAL = 11;
export const IN_NUMBER = 12;
export const FAILED = 13;

/** What should have come where something else did, in words. `number`: how far the number under way has come. */
export function expectedIn(state: number, number: number, inObject: boolean): string {
  if (state === IN_NUMBER && !isWholeNumber(number)) return "a digit";
  switch (state) {
    case FIRST_BRACE:
      return "an object";
    case KEY_OR_CLOSE:
    case KEY:
      return "a key";
    case KEY_COLON:
      return '":"';
    case VALUE:
    case VALUE_OR_CLOSE:
    case IN_LITERAL:
      return "a value";
    case NOTHING:
      return "the end";
    default:
      return inObject ? '"," or "}"' : '"," or "]"';
  }
}
