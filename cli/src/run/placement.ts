import { EXIT } from "../exit-code.ts";
import { callGateway } from "../gateway-call.ts";
import type { Io } from "../io.ts";
import { readPlacement, renderPlacement } from "../render/placement.ts";

export interface PlacementOptions {
  gateway: string;
  key?: string;
  json?: boolean;
}

export async function placement(options: PlacementOptions, io: Io): Promise<number> {
  const gateway = { url: options.gateway, key: options.key ?? io.env["FARMGATE_KEY"] ?? null };
  const answer = await callGateway(gateway, "/farm/placement");
  const text =
    options.json === true
      ? `${JSON.stringify(Object.assign({ gateway: gateway.url }, answer))}\n`
      : renderPlacement(gateway.url, readPlacement(answer), io.stdout.columns() ?? Infinity);
  io.stdout.write(text);
  return EXIT.ok;
}
