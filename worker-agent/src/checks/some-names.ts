/** More than these are only counted: a message is to be read. */
const MOST = 5;

/** A list of names in a message. */
export function someNames(names: readonly string[]): string {
  const left = names.length - MOST;
  return left <= 0 ? names.join(", ") : `${names.slice(0, MOST).join(", ")} and ${left} more`;
}
