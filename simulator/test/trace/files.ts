import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const folder = process.env["FARMGATE_TRACES"] ?? fileURLToPath(new URL("../../../../shared/traces", import.meta.url));
const why = "(skipped where the public traces are not: FARMGATE_TRACES names their folder)";

/** A public trace's file; tests that want it run `it.skipIf(file === null)`, and their names say why. */
export function publicTrace(name: string): string | null {
  const path = `${folder}/${name}`;
  return existsSync(path) ? path : null;
}

export const whereThere = publicTrace("azure_llm_2023_conv.csv.gz") === null ? why : "";
