import type { Command } from "commander";
import { DEFAULT_GATEWAY, gatewayFlag } from "../flags.ts";
import type { Io } from "../io.ts";
import type { PlacementOptions } from "../run/placement.ts";

export function addPlacementCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("placement")
    .description("Show which models are placed where, what is expected of them, and what was planned and done.")
    .option("--gateway <url>", "the gateway's address", gatewayFlag, DEFAULT_GATEWAY)
    .option("--key <key>", "a key of the farm (default: FARMGATE_KEY of the environment)")
    .option("--json", "print JSON, for programs")
    .action(async (options: PlacementOptions) => {
      const { placement } = await import("../run/placement.ts");
      finish(await placement(options, io));
    });
}
