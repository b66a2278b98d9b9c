import type { Command } from "commander";
import { countFlag } from "../flags.ts";
import type { Io } from "../io.ts";
import { type ClusterOptions, policiesFlag, scaleFlag, scenarioFlag, simulateCluster } from "../simulate/cluster.ts";

export function addSimulateCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("simulate")
    .description("Replay a load in virtual time, by the policies that run live.")
    .requiredOption("--cluster <name>", "hundreds of devices under several placement policies", scenarioFlag)
    .option("--policy <names>", "some of them, with commas between, or all", policiesFlag, policiesFlag("all"))
    .option("--seed <n>", "for all that is drawn by chance", countFlag, 1)
    .option("--scale <n>", "times as many requests", scaleFlag, 1)
    .option("--traces <dir>", "the folder of the public traces, for loads that replay one")
    .option("--out <dir>", "write JSON, CSV and plots there")
    .option("--json", "print JSON, for programs")
    .action(async (options: ClusterOptions) => finish(await simulateCluster(options, io)));
}
