const GAP = "  ";
const NARROWEST = 8;

/**
 * Rows under their headings, aligned, at most `width` columns wide: what does not fit is taken from the widest
 * columns, whose cells then end with an ellipsis.
 */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  const all = [headings, ...rows];
  const widths = headings.map((_, i) => Math.max(...all.map((row) => (row[i] ?? "").length)));
  shrink(widths, width - GAP.length * (headings.length - 1));
  return all.map((row) =>
    widths
      .map((columns, i) => fit(row[i] ?? "", columns))
      .join(GAP)
      .trimEnd(),
  );
}

/** Takes columns from the widest until the sum is at most `total`, or all are as narrow as they may be. */
function shrink(widths: number[], total: number): void {
  for (let over = widths.reduce((sum, columns) => sum + columns, 0) - total; over > 0; over -= 1) {
    const widest = widths.indexOf(Math.max(...widths));
    const columns = widths[widest] ?? 0;
    if (columns <= NARROWEST) return;
    widths[widest] = columns - 1;
  }
}

function fit(text: string, columns: number): string {
  return text.length <= columns ? text.padEnd(columns) : `${text.slice(0, columns - 1)}…`;
}
