import { setTimeout as pause } from "node:timers/promises";
import { CommandError, EXIT } from "../exit-code.ts";
import { callGateway, type GatewayAccess } from "../gateway-call.ts";
import type { Io } from "../io.ts";
import { readStatus, renderStatus } from "../render/status.ts";

const WATCH_MS = 1_000;
const CLEAR_SCREEN = "\u001b[H\u001b[2J";

export interface StatusOptions {
  gateway: string;
  key?: string;
  json?: boolean;
  watch?: boolean;
}

export async function status(options: StatusOptions, io: Io): Promise<number> {
  const gateway = { url: options.gateway, key: options.key ?? io.env["FARMGATE_KEY"] ?? null };
  const json = options.json === true;
  io.stdout.write(await statusText(gateway, json, io, options.watch === true));
  if (options.watch !== true) return EXIT.ok;
  io.onSignal(() => io.exit(EXIT.ok));
  while (!io.stdout.gone()) {
    await pause(WATCH_MS);
    try {
      io.stdout.write(await statusText(gateway, json, io, true));
    } catch (error) {
      // A gateway that is started anew is watched on.
      if (!(error instanceof CommandError)) throw error;
      io.stderr.write(`${error.message}\n`);
    }
  }
  return EXIT.ok;
}

async function statusText(gateway: GatewayAccess, json: boolean, io: Io, clear: boolean): Promise<string> {
  const [workers, models, requests] = await Promise.all([
    callGateway(gateway, "/farm/workers"),
    callGateway(gateway, "/farm/models"),
    callGateway(gateway, "/farm/requests"),
  ]);
  if (json) {
    const answers = Object.assign({ gateway: gateway.url }, workers, models, requests);
    return `${JSON.stringify(answers)}\n`;
  }
  const columns = io.stdout.columns();
  const text = renderStatus(gateway.url, readStatus({ workers, models, requests }), columns ?? Infinity);
  return clear && columns !== null ? CLEAR_SCREEN + text : text;
}
