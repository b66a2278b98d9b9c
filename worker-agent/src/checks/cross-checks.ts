import { checkKeys, type CrossCheck, isLoopback, type ReportProblem } from "@farmgate/shared";
import { checkEngines, checkOwnAddress, checkPorts } from "./addresses.ts";
import { checkCommands } from "./commands.ts";
import { checkFiles } from "./files.ts";
import { checkMemory, checkPinned } from "./memory.ts";
import { checkNames, checkScriptWords } from "./names.ts";
import { checkUnloading } from "./unloading.ts";
import type { AgentShape } from "../config.ts";

/** What no single key can tell: names that meet, keys that need one another. */
export const CROSS_CHECKS: readonly CrossCheck<AgentShape>[] = [
  { reads: ["models", "engines"], check: checkNames },
  { reads: ["models"], check: checkScriptWords },
  { reads: ["swap", "models"], check: checkCommands },
  { reads: ["engines"], check: checkEngines },
  { reads: ["models", "engines"], check: checkPorts },
  { reads: ["listen", "models", "engines"], check: checkOwnAddress },
  { reads: ["swap", "models", "engines", "memory"], check: checkUnloading },
  { reads: ["models", "engines", "memory"], check: checkMemory },
  { reads: ["models", "engines"], check: checkPinned },
  { reads: ["models", "files"], check: checkFiles },
  { reads: ["keys", "open", "listen", "gateway"], check: checkDoor },
  { reads: ["keys"], check: checkKeys },
];

function checkDoor(config: AgentShape, report: ReportProblem): void {
  // One that registers has a key for its gateways.
  if (config.gateway.length > 0) return;
  if (config.keys.length === 0 && !config.open && !isLoopback(config.listen.host)) {
    report(["keys"], `needed to listen on ${config.listen.host}; \`open: true\` allows every caller without one`);
  }
}
