import type { Command } from "commander";
import { countFlag, durationFlag } from "../flags.ts";
import type { Io } from "../io.ts";
import { type FarmOptions, simulateFarm } from "../simulate/farm.ts";

export function addSimulateCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("simulate")
    .description("Replay a trace against a farm file in virtual time, by the policies that run live: what if?")
    .requiredOption("--farm <file>", "a farm file; its `simulate` tells how fast engines are that are not simulated")
    .option("--trace <file>", "a recorded trace, or a public one; else a made-up day")
    .option("--model <name>", "the model that a trace without names asks for")
    .option("--what-if <file>", "another farm file, to be compared with the first")
    .option("--requests <n>", "of the made-up day", countFlag, 3_000)
    .option("--seed <n>", "for all that is drawn by chance", countFlag, 1)
    .option("--target <duration>", "the first token within this counts as on time", durationFlag, 10_000)
    .option("--patience <duration>", "callers leave after this", durationFlag, 600_000)
    .option("--no-advice", "do not try what would help")
    .option("--out <dir>", "write JSON, CSV and plots there")
    .option("--json", "print JSON, for programs")
    .action(async (options: FarmOptions) => finish(await simulateFarm(options, io)));
}
