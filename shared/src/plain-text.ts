/** Text that others chose, for a terminal: control characters, which could move its cursor, become question marks. */
export function plainText(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, "?");
}
