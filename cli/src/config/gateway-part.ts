import { resolve } from "node:path";
import { type GatewayConfig, gatewayConfigSchema } from "@farmgate/gateway";
import { checkDocument } from "@farmgate/shared";
import { usageError } from "../exit-code.ts";
import { checkFarm } from "./farm-schema.ts";
import { checked, type OpenedConfig } from "./open-config.ts";

/** The gateway that a gateway file or a farm file describes. `port` stands in for the file's own; folders are beside the file. */
export function gatewayPart(opened: OpenedConfig, port: number | null): GatewayConfig {
  const found = configured(opened);
  const { stateDir } = found.placement;
  const placement = { ...found.placement, stateDir: stateDir === null ? null : resolve(opened.directory, stateDir) };
  const config = { ...found, placement };
  return port === null ? config : { ...config, listen: { ...config.listen, port } };
}

function configured(opened: OpenedConfig): GatewayConfig {
  switch (opened.kind) {
    case "gateway":
      return checked(opened, checkDocument(opened.document, gatewayConfigSchema));
    case "farm":
      return checked(opened, checkFarm(opened.document)).gateway;
    case "agent":
      throw usageError(`${opened.shown} is an agent's file; start it with: farmgate agent --config ${opened.shown}`);
  }
}
