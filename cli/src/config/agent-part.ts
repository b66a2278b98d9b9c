import { checkDocument } from "@farmgate/shared";
import { type AgentConfig, agentConfigSchema } from "@farmgate/worker-agent";
import { usageError } from "../exit-code.ts";
import { checkFarm } from "./farm-schema.ts";
import { byName } from "./by-name.ts";
import { checked, type OpenedConfig } from "./open-config.ts";

/** The agent of an agent file, or the one called `name` of a farm file (which needs no name when it has one agent). */
export function agentPart(opened: OpenedConfig, name: string | null): AgentConfig {
  switch (opened.kind) {
    case "agent": {
      const config = checked(opened, checkDocument(opened.document, agentConfigSchema));
      return byName([config], name, "agent", opened.shown);
    }
    case "farm":
      return byName(checked(opened, checkFarm(opened.document)).agents, name, "agent", opened.shown);
    case "gateway":
      throw usageError(`${opened.shown} is a gateway's file; start it with: farmgate gateway --config ${opened.shown}`);
  }
}
