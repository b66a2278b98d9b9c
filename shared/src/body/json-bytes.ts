/** Bytes that JSON's grammar knows (RFC 8259). */
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const MINUS = 0x2d;
export const POINT = 0x2e;
export const ZERO = 0x30;
export const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
export const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

export function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

export function isHexDigit(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

/** `e` or `E`. */
export function isExponent(byte: number): boolean {
  return byte === 0x65 || byte === 0x45;
}

/** Whether a backslash and this byte are an escape by themselves: one of `"\/bfnrt`. */
export function isEscape(byte: number): boolean {
  return IS_ESCAPE[byte] === 1;
}

const IS_ESCAPE = Uint8Array.from({ length: 256 }, (_, byte) =>
  '"\\/bfnrt'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/** The literal that begins with this byte; null: none does. */
export function literalFor(first: number): string | null {
  if (first === 0x74) return "true";
  if (first === 0x66) return "false";
  return first === 0x6e ? "null" : null;
}
