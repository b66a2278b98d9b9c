import type { Command } from "commander";
import { portFlag } from "../flags.ts";
import type { Io } from "../io.ts";

export function addGatewayCommand(program: Command, io: Io): void {
  program
    .command("gateway")
    .description("Run one gateway. A changed file is applied without a restart.")
    .requiredOption("--config <file>", "a gateway file, or a farm file for its gateway part")
    .option("--port <n>", "listen here instead of at the file's port", portFlag)
    .action(async (options: { config: string; port?: number }) => {
      const { runGateway } = await import("../run/gateway.ts");
      await runGateway(options.config, options.port ?? null, io);
    });
}
