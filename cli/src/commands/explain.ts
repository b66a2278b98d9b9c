import type { Command } from "commander";
import { apiFlag, DEFAULT_GATEWAY, gatewayFlag } from "../flags.ts";
import type { Io } from "../io.ts";
import type { ExplainOptions } from "../run/explain.ts";

export function addExplainCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("explain")
    .description("Rank the workers for a model, with the reason for each place. Nothing is sent to a worker.")
    .argument("<model>", "the name that a caller would use")
    .option("--api <name>", "what the caller would ask for, as embeddings or speech", apiFlag, "chat")
    .option("--gateway <url>", "the gateway's address", gatewayFlag, DEFAULT_GATEWAY)
    .option("--key <key>", "a key of the farm (default: FARMGATE_KEY of the environment)")
    .option("--json", "print JSON, for programs")
    .action(async (model: string, options: ExplainOptions) => {
      const { explain } = await import("../run/explain.ts");
      finish(await explain(model, options, io));
    });
}
