import type { Command } from "commander";
import type { Io } from "../io.ts";

export function addAgentCommand(program: Command, io: Io): void {
  program
    .command("agent")
    .description("Run one worker agent, on the machine that has the models.")
    .requiredOption("--config <file>", "an agent file, or a farm file for one of its agents")
    .option("--name <name>", "which agent of the farm file")
    .action(async (options: { config: string; name?: string }) => {
      const { runAgent } = await import("../run/agent.ts");
      await runAgent(options.config, options.name ?? null, io);
    });
}
