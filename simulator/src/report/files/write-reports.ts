import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "@farmgate/wire";
import { comparison, markdownTable } from "../comparison.ts";
import { applicationsCsv, windowsCsv } from "../csv.ts";
import { plots } from "../plots.ts";
import type { Report } from "../types.ts";

/**
 * Writes all about some runs into a folder, which is made where there is none: report.json, table.md, applications.csv,
 * windows.csv and the plots. Resolves with the files' names.
 */
export async function writeReports(folder: string, reports: readonly Report[]): Promise<string[]> {
  const files = {
    "report.json": `${JSON.stringify(reports, null, 1)}\n`,
    "table.md": markdownTable(comparison(reports)),
    "applications.csv": applicationsCsv(reports),
    "windows.csv": windowsCsv(reports),
    ...plots(reports),
  };
  await makeFolder(folder);
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  return Object.keys(files);
}
