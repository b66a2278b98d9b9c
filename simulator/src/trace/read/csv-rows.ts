import { lines } from "./lines.ts";
import { TraceError } from "./trace-error.ts";

export interface CsvRow {
  line: number;
  /** By the column's place in `wanted`. */
  cells: readonly string[];
}

/**
 * The rows of a table without quoting, which none of the traces has: the cells of the columns that are wanted, by
 * name, whatever stands beside them. `others`: names that mean the same as those of `wanted`.
 */
export function* csvRows(
  text: string,
  wanted: readonly string[],
  others: Readonly<Record<string, string>> = {},
): Generator<CsvRow> {
  let places: number[] | null = null;
  let width = 0;
  for (const { line, text: row } of lines(text)) {
    const cells = row.split(",").map((cell) => cell.trim());
    if (places === null) {
      const names = cells.map((cell) => others[cell] ?? cell);
      places = wanted.map((name) => names.indexOf(name));
      width = cells.length;
      const missing = wanted.filter((_, i) => places?.[i] === -1);
      if (missing.length > 0) throw new TraceError(line, `there is no column ${missing.join(", ")}`);
      continue;
    }
    if (cells.length !== width) throw new TraceError(line, `has ${cells.length} columns where the head has ${width}`);
    yield { line, cells: places.map((place) => cells[place] ?? "") };
  }
  if (places === null) throw new TraceError(null, "the file is empty");
}
