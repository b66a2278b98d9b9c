import type { Command } from "commander";
import type { Io } from "../io.ts";

export function addCheckCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("check")
    .description("Check a gateway, agent or farm file: every problem with its line, or `ok`.")
    .argument("<file>", "the configuration file")
    .action(async (file: string) => {
      const { check } = await import("../run/check.ts");
      finish(await check(file, io));
    });
}
