import type { Command } from "commander";
import { EXIT } from "../exit-code.ts";
import { DEFAULT_GATEWAY, gatewayFlag } from "../flags.ts";
import { callGateway } from "../gateway-call.ts";
import type { Io } from "../io.ts";
import { readPlacement, renderPlacement } from "../render/placement.ts";

interface PlacementOptions {
  gateway: string;
  key?: string;
  json?: boolean;
}

export function addPlacementCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("placement")
    .description("Show which models are placed where, what is expected of them, and what was planned and done.")
    .option("--gateway <url>", "the gateway's address", gatewayFlag, DEFAULT_GATEWAY)
    .option("--key <key>", "a key of the farm (default: FARMGATE_KEY of the environment)")
    .option("--json", "print JSON, for programs")
    .action(async (options: PlacementOptions) => finish(await placement(options, io)));
}

async function placement(options: PlacementOptions, io: Io): Promise<number> {
  const gateway = { url: options.gateway, key: options.key ?? io.env["FARMGATE_KEY"] ?? null };
  const answer = await callGateway(gateway, "/farm/placement");
  const text =
    options.json === true
      ? `${JSON.stringify(Object.assign({ gateway: gateway.url }, answer))}\n`
      : renderPlacement(gateway.url, readPlacement(answer), io.stdout.columns() ?? Infinity);
  io.stdout.write(text);
  return EXIT.ok;
}
