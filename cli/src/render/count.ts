/** `1 model`, `2 models`. */
export function count(list: readonly unknown[], what: string): string {
  return `${list.length} ${what}${list.length === 1 ? "" : "s"}`;
}
