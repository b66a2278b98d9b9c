/** The lines of a text that hold anything, with their numbers from 1 on; without what ends them. */
export function* lines(text: string): Generator<{ line: number; text: string }> {
  let line = 1;
  for (let from = 0; from < text.length; line += 1) {
    const found = text.indexOf("\n", from);
    const end = found < 0 ? text.length : found;
    const content = text.slice(from, end).trim();
    if (content !== "") yield { line, text: content };
    from = end + 1;
  }
}

/** The first line that holds anything; empty: there is none. */
export function firstLine(text: string): string {
  for (const { text: content } of lines(text)) return content;
  return "";
}
