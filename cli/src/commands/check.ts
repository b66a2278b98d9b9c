import { ConfigError, formatProblem } from "@farmgate/shared";
import type { Command } from "commander";
import { problemsOf } from "../config/check-file.ts";
import { openConfig } from "../config/open-config.ts";
import { EXIT } from "../exit-code.ts";
import type { Io } from "../io.ts";

export function addCheckCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("check")
    .description("Check a gateway, agent or farm file: every problem with its line, or `ok`.")
    .argument("<file>", "the configuration file")
    .action(async (file: string) => finish(await check(file, io)));
}

async function check(file: string, io: Io): Promise<number> {
  const lines = await problemLines(file, io);
  io.stdout.write(lines.length === 0 ? "ok\n" : `${lines.join("\n")}\n`);
  return lines.length === 0 ? EXIT.ok : EXIT.failure;
}

async function problemLines(file: string, io: Io): Promise<string[]> {
  try {
    const opened = await openConfig(file, io.env);
    return problemsOf(opened).map((problem) => formatProblem(problem, file));
  } catch (error) {
    if (error instanceof ConfigError) return [error.message];
    throw error;
  }
}
