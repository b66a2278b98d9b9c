/** A token of English text has about four bytes; with what JSON puts around it, and in other scripts, a little less or more. */
export const BYTES_PER_TOKEN = 4;

/** Tokens of what nobody counted, by its bytes. `bytesPerToken` where it was learned. */
export function tokensOf(bytes: number, bytesPerToken = BYTES_PER_TOKEN): number {
  return bytes / bytesPerToken;
}
