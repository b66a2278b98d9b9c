/**
 * Whether the JSON string `bytes[start, end)`, with both quotes, is `text`, which must be ASCII, however it is spelled.
 */
export function isText(bytes: Buffer, start: number, end: number, text: string): boolean {
  const length = end - start - 2;
  if (length < text.length) return false;
  if (length > text.length) {
    // Escapes make a string longer: six bytes a letter at most.
    return length <= text.length * 6 && hasEscape(bytes, start, end) && readText(bytes, start, end) === text;
  }
  for (let i = 0; i < length; i += 1) {
    if (bytes[start + 1 + i] !== text.charCodeAt(i)) return false;
  }
  return true;
}

/** Looks no further than the string: behind it megabytes may follow, and this is asked for each key of a body. */
function hasEscape(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (bytes[at] === 0x5c) return true;
  return false;
}

/** The JSON string `bytes[start, end)`, decoded. */
export function readText(bytes: Buffer, start: number, end: number): string {
  return JSON.parse(bytes.toString("utf8", start, end)) as string;
}
