import { setTimeout as pause } from "node:timers/promises";
import type { Command } from "commander";
import { EXIT } from "../exit-code.ts";
import { DEFAULT_GATEWAY, gatewayFlag } from "../flags.ts";
import { callGateway, type GatewayAccess } from "../gateway-call.ts";
import type { Io } from "../io.ts";
import { readStatus, renderStatus } from "../render/status.ts";

const WATCH_MS = 1_000;
const CLEAR_SCREEN = "\u001b[H\u001b[2J";
const DEFAULT_WIDTH = 80;

interface StatusOptions {
  gateway: string;
  key?: string;
  json?: boolean;
  watch?: boolean;
}

export function addStatusCommand(program: Command, io: Io, finish: (exitCode: number) => void): void {
  program
    .command("status")
    .description("Show workers, models, warmth, queues and the requests in flight.")
    .option("--gateway <url>", "the gateway's address", gatewayFlag, DEFAULT_GATEWAY)
    .option("--key <key>", "a key of the farm (default: FARMGATE_KEY of the environment)")
    .option("--json", "print JSON, for programs")
    .option("--watch", "print it anew every second until Ctrl-C")
    .action(async (options: StatusOptions) => finish(await status(options, io)));
}

async function status(options: StatusOptions, io: Io): Promise<number> {
  const gateway = { url: options.gateway, key: options.key ?? io.env["FARMGATE_KEY"] ?? null };
  for (;;) {
    const text = await statusText(gateway, options.json === true, io);
    const clear = options.watch === true && io.stdout.columns() !== null && options.json !== true;
    io.stdout.write(clear ? CLEAR_SCREEN + text : text);
    if (options.watch !== true || io.stdout.gone()) return EXIT.ok;
    await pause(WATCH_MS);
  }
}

async function statusText(gateway: GatewayAccess, json: boolean, io: Io): Promise<string> {
  const [workers, models, requests] = await Promise.all([
    callGateway(gateway, "/farm/workers"),
    callGateway(gateway, "/farm/models"),
    callGateway(gateway, "/farm/requests"),
  ]);
  if (json) {
    const answers = Object.assign({ gateway: gateway.url }, workers, models, requests);
    return `${JSON.stringify(answers)}\n`;
  }
  return renderStatus(gateway.url, readStatus({ workers, models, requests }), io.stdout.columns() ?? DEFAULT_WIDTH);
}
