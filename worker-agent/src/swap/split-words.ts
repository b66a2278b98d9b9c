/**
 * A command line as its words, without a shell: blanks separate, single quotes keep everything, double quotes keep
 * everything but a backslash before `"` or `\`, a backslash outside quotes keeps the next character.
 * No variables, globs or operators. null: a quote that is never closed, or a backslash at the end.
 */
export function splitWords(text: string): string[] | null {
  const words: string[] = [];
  let word: string | null = null;
  let quote: '"' | "'" | null = null;
  for (let i = 0; i < text.length; i += 1) {
    const char = text.charAt(i);
    const next = text.charAt(i + 1);
    if (quote !== null) {
      if (char === quote) {
        quote = null;
      } else if (quote === '"' && char === "\\" && (next === '"' || next === "\\")) {
        word += next;
        i += 1;
      } else {
        word += char;
      }
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= "";
    } else if (char === "\\") {
      if (next === "") return null;
      word = (word ?? "") + next;
      i += 1;
    } else if (/\s/.test(char)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      word = (word ?? "") + char;
    }
  }
  if (quote !== null) return null;
  if (word !== null) words.push(word);
  return words;
}
