import { checkFarm, type Farm } from "../config/farm-schema.ts";
import { gatewayPart } from "../config/gateway-part.ts";
import { checked, type OpenedConfig } from "../config/open-config.ts";
import { usageError } from "../exit-code.ts";

/** The farm of a farm file, or of a gateway file: then it is the gateway alone. `port` replaces the gateway's. */
export function farmOf(opened: OpenedConfig, port: number | null): Farm {
  if (opened.kind === "agent") {
    throw usageError(`${opened.shown} is an agent's file; start it with: farmgate agent --config ${opened.shown}`);
  }
  if (opened.kind === "gateway") return { gateway: gatewayPart(opened, port), agents: [], engines: [], simulate: {} };
  const farm = checked(opened, checkFarm(opened.document));
  if (port === null) return farm;
  const other = [...farm.agents, ...farm.engines].find((member) => member.listen.port === port);
  if (other !== undefined) throw usageError(`--port ${port} is the port of ${other.name} in ${opened.shown}`);
  return { ...farm, gateway: { ...farm.gateway, listen: { ...farm.gateway.listen, port } } };
}
