import type { Command } from "commander";
import { fixedPortFlag } from "../flags.ts";
import type { Io } from "../io.ts";
import type { UpOptions } from "../run/up.ts";

export function addUpCommand(program: Command, io: Io): void {
  program
    .command("up")
    .description("Run a whole farm: the gateway and the agents and simulated engines of a file, each its own process.")
    .option("--config <file>", "a farm or gateway file; else ./farmgate.yaml, found engines, or the demo farm")
    .option("--demo", "run the demo farm of three simulated workers")
    .option("--port <n>", "the gateway's port, instead of the file's", fixedPortFlag)
    .action(async (options: UpOptions) => {
      const { up } = await import("../run/up.ts");
      await up(options, io);
    });
}
