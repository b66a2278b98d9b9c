import type { Command } from "commander";
import { DEFAULT_GATEWAY, gatewayFlag } from "../flags.ts";
import type { Io } from "../io.ts";
import type { StatusOptions } from "../run/status.ts";

export function addStatusCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("status")
    .description("Show workers, models, warmth, queues and the requests in flight.")
    .option("--gateway <url>", "the gateway's address", gatewayFlag, DEFAULT_GATEWAY)
    .option("--key <key>", "a key of the farm (default: FARMGATE_KEY of the environment)")
    .option("--json", "print JSON, for programs")
    .option("--watch", "print it anew every second until Ctrl-C")
    .action(async (options: StatusOptions) => {
      const { status } = await import("../run/status.ts");
      finish(await status(options, io));
    });
}
