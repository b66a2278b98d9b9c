/** That a sentence can bear. */
const MOST = 8;

/** Names as a list in a sentence: the first ones, and how many more there are. */
export function someOf(names: readonly string[]): string {
  const more = names.length - MOST;
  return more > 0 ? `${names.slice(0, MOST).join(", ")} and ${more} more` : names.join(", ");
}
