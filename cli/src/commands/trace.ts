import type { Command } from "commander";
import { DEFAULT_GATEWAY, durationFlag, gatewayFlag } from "../flags.ts";
import type { Io } from "../io.ts";
import type { TraceOptions } from "../run/trace.ts";

export function addTraceCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("trace")
    .description(
      "Record what is asked of the farm and when, for `farmgate simulate`: models, token counts, times, and a number in place of each key. Nothing of what is said. Prints a line for each request.",
    )
    .option("--gateway <url>", "the gateway's address", gatewayFlag, DEFAULT_GATEWAY)
    .option("--key <key>", "an admin's key of the farm (default: FARMGATE_KEY of the environment)")
    .option("--for <duration>", "how long, as 30m or 24h (default: until Ctrl-C)", durationFlag)
    .action(async (options: TraceOptions) => {
      const { trace } = await import("../run/trace.ts");
      finish(await trace(options, io));
    });
}
