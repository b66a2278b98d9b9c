import { checkDocument, type ConfigProblem, formatPath, isLoopback } from "@farmgate/shared";
import { type AgentConfig, agentConfigSchema } from "@farmgate/worker-agent";
import { checkFarm } from "./farm-schema.ts";
import type { OpenedConfig } from "./open-config.ts";

type Place = readonly PropertyKey[];

/** What may keep the agents of a file without problems from being reached once they have registered. */
export function registrationWarnings(opened: OpenedConfig): ConfigProblem[] {
  const { document } = opened;
  return agentsOf(opened).flatMap(({ config, at }) =>
    config.gateway.flatMap((entry, i) => {
      const path = gatewayPlace(opened, at, i);
      return trouble(config, entry).map((message) => ({
        path: formatPath(path),
        line: document.lineOf(path),
        message,
      }));
    }),
  );
}

/** Where an agent's entry for a gateway stands in its file, which need not be a list. */
export function gatewayPlace({ document }: OpenedConfig, at: Place, i: number): Place {
  const path = [...at, "gateway"];
  const told = path.reduce<unknown>((part, step) => (part as Record<PropertyKey, unknown>)[step], document.value);
  return Array.isArray(told) ? [...path, i] : path;
}

function trouble({ listen }: AgentConfig, { url, ca, advertise }: AgentConfig["gateway"][number]): string[] {
  const found: string[] = [];
  const isElsewhere = url === null || !isLoopback(new URL(url).hostname);
  if (isElsewhere && isLoopback(listen.host) && advertise === null) {
    const what = `the agent listens on ${listen.host}, where a gateway on another machine does not reach it`;
    found.push(`${what}: set listen.host, or \`advertise\``);
  }
  if (url === null && ca === null) {
    found.push("whoever says on the local network to be a gateway gets the key: `ca` leaves only those it vouches for");
  }
  return found;
}

function agentsOf({ kind, document }: OpenedConfig): { config: AgentConfig; at: Place }[] {
  if (kind === "agent") {
    const agent = checkDocument(document, agentConfigSchema);
    return agent.ok ? [{ config: agent.value, at: [] }] : [];
  }
  const farm = kind === "farm" ? checkFarm(document) : null;
  return farm?.ok === true ? farm.value.agents.map((config, i) => ({ config, at: ["agents", i] })) : [];
}
