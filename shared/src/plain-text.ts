/**
 * Text that others chose, for a terminal: control characters, which could move its cursor, and those that turn the
 * direction of writing become question marks.
 */
export function plainText(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "?");
}
