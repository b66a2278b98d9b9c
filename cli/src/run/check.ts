import { ConfigError, type ConfigProblem, formatProblem } from "@farmgate/shared";
import { problemsOf } from "../config/check-file.ts";
import { certificatesOf } from "../config/certificate-files.ts";
import { openConfig } from "../config/open-config.ts";
import { programWarnings } from "../config/programs.ts";
import { registrationWarnings } from "../config/registration-warnings.ts";
import { waitPromises } from "../config/wait-promise.ts";
import { EXIT } from "../exit-code.ts";
import type { Io } from "../io.ts";

export async function check(file: string, io: Io): Promise<number> {
  const { problems, warnings, promises } = await found(file, io);
  for (const warning of warnings) io.stderr.write(`warning: ${formatProblem(warning, file)}\n`);
  const lines = problems.length === 0 ? ["ok", ...promises] : problems.map((one) => formatProblem(one, file));
  io.stdout.write(`${lines.join("\n")}\n`);
  return problems.length === 0 ? EXIT.ok : EXIT.failure;
}

interface Found {
  problems: readonly ConfigProblem[];
  warnings: readonly ConfigProblem[];
  /** The longest wait in each agent's queue, in words. */
  promises: readonly string[];
}

async function found(file: string, io: Io): Promise<Found> {
  try {
    const opened = await openConfig(file, io.env);
    const wrong = problemsOf(opened);
    const files = wrong.length === 0 ? await certificatesOf(opened, io.clock.wall()) : { problems: [], warnings: [] };
    const problems = [...wrong, ...files.problems];
    const promises = problems.length === 0 ? waitPromises(opened) : { lines: [], warnings: [] };
    const registering = problems.length === 0 ? registrationWarnings(opened) : [];
    const warnings = [...(await programWarnings(opened)), ...files.warnings, ...promises.warnings, ...registering];
    return { problems, warnings, promises: promises.lines };
  } catch (error) {
    if (error instanceof ConfigError) return { problems: error.problems, warnings: [], promises: [] };
    throw error;
  }
}
