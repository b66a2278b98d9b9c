import { gatewayConfigSchema } from "@farmgate/gateway";
import { checkDocument, type ConfigProblem } from "@farmgate/shared";
import { agentConfigSchema } from "@farmgate/worker-agent";
import { checkFarm } from "./farm-schema.ts";
import type { OpenedConfig } from "./open-config.ts";

/** Every problem of a file of any kind. */
export function problemsOf(opened: OpenedConfig): readonly ConfigProblem[] {
  const result = check(opened);
  return result.ok ? [] : result.problems;
}

function check(opened: OpenedConfig) {
  switch (opened.kind) {
    case "gateway":
      return checkDocument(opened.document, gatewayConfigSchema);
    case "agent":
      return checkDocument(opened.document, agentConfigSchema);
    case "farm":
      return checkFarm(opened.document);
  }
}
