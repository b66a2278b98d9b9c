import { report } from "node:process";

/** Where the system does not tell. */
const USUAL = 1_024;
/** For the program itself, its polls, and the connections that a server keeps in reserve. */
const OWN = 160;

/**
 * How many connections of callers this program has room for: by how many files the system lets it have open at once,
 * which Node has raised to what it may be. Each request may need one more to whoever serves it.
 */
export function roomForCallers(): number {
  return Math.max(16, Math.floor((openFilesLimit() - OWN) / 2));
}

let known: number | null = null;

/** It does not change while the program runs, and asking takes milliseconds. */
export function openFilesLimit(): number {
  return (known ??= askForLimit());
}

function askForLimit(): number {
  // Else it would ask for the names of all that is connected.
  Object.assign(report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = userLimits?.open_files?.soft;
  if (soft === "unlimited") return Number.POSITIVE_INFINITY;
  return typeof soft === "number" ? soft : USUAL;
}
