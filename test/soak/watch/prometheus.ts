// Figures out of a Prometheus text. Pure.

/** The sum over all lines of one metric; 0 when it has none. */
export function sumOf(text: string, metric: string): number {
  let sum = 0;
  for (const line of text.split("\n")) {
    if (line.startsWith(`${metric} `) || line.startsWith(`${metric}{`))
      sum += Number(line.slice(line.lastIndexOf(" ") + 1));
  }
  return sum;
}
