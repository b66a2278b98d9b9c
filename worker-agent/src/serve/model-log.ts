import { FarmError } from "@farmgate/shared";
import type { ServedModel } from "../served-model.ts";
import { logFileOf, readLastLines } from "../swap/script-output.ts";

const DEFAULT_LINES = 200;
const MAX_LINES = 10_000;
const MAX_BYTES = 1_024 ** 2;

/** The last lines that a model's swap script or command wrote; empty before it was run. Throws `not_supported`. */
export type ReadLog = (model: Logged, lines: number) => Promise<string>;

type Logged = Pick<ServedModel, "name" | "heldBy">;

/** The query's `lines`. Throws `invalid_request`. */
export function linesOf(value: unknown): number {
  if (value === undefined) return DEFAULT_LINES;
  const lines = typeof value === "string" && /^\d{1,6}$/.test(value) ? Number(value) : 0;
  if (lines >= 1 && lines <= MAX_LINES) return lines;
  throw new FarmError("invalid_request", `lines must be a whole number from 1 to ${MAX_LINES}.`, { param: "lines" });
}

/** At most 1 MB. `directory`: where the output files lie. */
export async function readModelLog(directory: string, model: Logged, lines: number): Promise<string> {
  if (model.heldBy.kind === "engine") {
    throw new FarmError(
      "not_supported",
      `${model.name} is held by the engine at ${model.heldBy.url}: its log is there.`,
    );
  }
  try {
    const text = await readLastLines(logFileOf(directory, model), lines, MAX_BYTES);
    return text === "" ? "" : `${text}\n`;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
