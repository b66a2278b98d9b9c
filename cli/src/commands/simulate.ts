import type { Command } from "commander";
import { countFlag, countUpTo, durationFlag } from "../flags.ts";
import type { Io } from "../io.ts";
import type { SimulateOptions } from "../run/simulate.ts";
import { policiesFlag, scaleFlag, scenarioFlag } from "../simulate/cluster-flags.ts";

export function addSimulateCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("simulate")
    .description("Replay a trace against a farm file in virtual time, by the policies that run live: what if?")
    .option("--farm <file>", "a farm file; its `simulate` tells how fast engines are that are not simulated")
    .option("--trace <file>", "a recorded trace, or a public one; else a made-up day")
    .option("--model <name>", "the model that a trace without names asks for")
    .option("--what-if <file>", "another farm file, to be compared with the first")
    .option("--requests <n>", "of the made-up day", countUpTo(1_000_000), 3_000)
    .option("--at-once", "in place of the day: all of them within a second")
    .option("--target <duration>", "the first token within this counts as on time", durationFlag, 10_000)
    .option("--patience <duration>", "callers leave after this", durationFlag, 600_000)
    .option("--no-advice", "do not try what would help")
    .option("--cluster <name>", "in place of a farm: hundreds of devices under several policies", scenarioFlag)
    .option(
      "--policy <names>",
      "with --cluster: some of them, commas between, or all",
      policiesFlag,
      policiesFlag("all"),
    )
    .option("--scale <n>", "with --cluster: times as many requests", scaleFlag, 1)
    .option("--traces <dir>", "with --cluster: the folder of the public traces, for loads that replay one")
    .option("--seed <n>", "for all that is drawn by chance", countFlag, 1)
    .option("--out <dir>", "write JSON, CSV and plots there")
    .option("--json", "print JSON, for programs")
    .action(async (options: SimulateOptions) => {
      const { simulate } = await import("../run/simulate.ts");
      finish(await simulate(options, io));
    });
}
