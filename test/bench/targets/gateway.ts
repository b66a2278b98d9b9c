// The gateway as it is shipped: its own process, started by the command line.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { freePorts } from "../../harness/free-ports.ts";
import type { Children } from "../process/children.ts";
import { ready } from "./target.ts";
import type { Target } from "./target.ts";

const projectRoot = fileURLToPath(new URL("../../../", import.meta.url));
const builtCli = join(projectRoot, "cli", "dist", "main.js");

export interface GatewayPlace {
  port: number;
  upstream: string;
  config: string;
}

function gatewayConfig(place: GatewayPlace, processes: number | null): string {
  const workers = processes === null ? ["stub"] : ["stub", "again"];
  return `listen: { host: 127.0.0.1, port: ${place.port} }
processes: ${processes ?? 1}
workers:
${workers.map((name) => `  - { name: ${name}, url: "${place.upstream}", engine: vllm }\n`).join("")}`;
}

/** A command in which {port}, {upstream} and {config} stand for the place that was found for it. */
export function gatewayCommand(template: string, place: GatewayPlace): string[] {
  return template
    .split(" ")
    .filter(Boolean)
    .map((word) =>
      word
        .replace("{port}", String(place.port))
        .replace("{upstream}", place.upstream)
        .replace("{config}", place.config),
    );
}

/** `template` is another gateway in place of the project's own; its paths are relative to where the bench was called. */
export async function startGateway(
  children: Children,
  upstreamPort: number,
  template?: string,
  processes: number | null = null,
): Promise<Target> {
  const [port = 0] = await freePorts(1);
  const config = join(children.folder, `gateway-${port}.yaml`);
  const place = { port, upstream: `http://127.0.0.1:${upstreamPort}`, config };
  writeFileSync(config, gatewayConfig(place, processes));
  if (template !== undefined) {
    const [command = "", ...args] = gatewayCommand(template, place);
    return ready(children, "gateway", port, children.spawn("gateway", command, args));
  }
  if (!existsSync(builtCli)) throw new Error("the gateway is not built: run `npm run build` first");
  const args = [builtCli, "gateway", "--config", config];
  return ready(children, "gateway", port, children.spawn("gateway", process.execPath, args, projectRoot));
}
