import { report } from "node:process";

/** Where the system does not tell. */
const USUAL = 1_024;

/** How many files and connections this program may have open at once; Node has raised it to what it may be. */
export function openFilesLimit(): number {
  // Else it would ask for the names of all that is connected.
  Object.assign(report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = userLimits?.open_files?.soft;
  if (soft === "unlimited") return Number.POSITIVE_INFINITY;
  return typeof soft === "number" ? soft : USUAL;
}
