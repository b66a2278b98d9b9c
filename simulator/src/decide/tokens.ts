const WINDOW = 1_024;

/** An estimate, as good as any without a tokenizer: a token is four bytes. Never less than one. */
export function tokensOfBytes(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 4));
}

export function tokensOf(text: string): number {
  return tokensOfBytes(Buffer.byteLength(text));
}

/** How many bytes of `text` are also the beginning of `held`. */
export function commonPrefixBytes(held: string, text: string): number {
  const end = Math.min(held.length, text.length);
  let same = 0;
  // Whole windows first: comparing slices is a memory compare, a loop over letters is not.
  while (same + WINDOW <= end && held.slice(same, same + WINDOW) === text.slice(same, same + WINDOW)) same += WINDOW;
  while (same < end && held.charCodeAt(same) === text.charCodeAt(same)) same += 1;
  return Buffer.byteLength(text.slice(0, same));
}
