/** The three kinds of configuration file (contract sections 2 and 3). */
export type ConfigKind = "gateway" | "agent" | "farm";

const GATEWAY_KEYS = ["workers", "health", "routing", "retry", "timeouts", "limits", "redis", "cors"];
const AGENT_KEYS = ["name", "swap", "queue", "memory"];

/**
 * Which kind of file a document is, told by its top-level keys alone, so that a file with mistakes in it still gets
 * the messages of its own kind. An agent file may have `gateway:` and `engines:` as a farm file does; there they name
 * addresses, here they describe programs to start.
 *
 * 1. `agents` is there: farm.
 * 2. A key that only a gateway has, or `models` as a mapping: gateway.
 * 3. A key that only an agent has, or `models` as a list: agent.
 * 4. `gateway` that neither has a `url` nor is to be discovered, or an entry of `engines` without a `url`: farm.
 * 5. Any other `gateway`, or `engines`: agent.
 * 6. Anything else, as an empty file: gateway.
 */
export function configKind(value: unknown): ConfigKind {
  if (!isMapping(value)) return "gateway";
  // (1)
  if ("agents" in value) return "farm";
  // (2)
  if (GATEWAY_KEYS.some((key) => key in value) || isMapping(value["models"])) return "gateway";
  // (3)
  if (AGENT_KEYS.some((key) => key in value) || Array.isArray(value["models"])) return "agent";
  // (4)
  const engines = Array.isArray(value["engines"]) ? value["engines"] : [];
  const gateways = [value["gateway"]].flat();
  if ("gateway" in value && !gateways.some((one) => hasUrl(one) || isDiscovered(one))) return "farm";
  if ("engines" in value && !engines.some(hasUrl)) return "farm";
  // (5)
  if ("gateway" in value || "engines" in value) return "agent";
  // (6)
  return "gateway";
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDiscovered(value: unknown): boolean {
  return isMapping(value) && "discover" in value;
}

function hasUrl(value: unknown): boolean {
  return isMapping(value) && "url" in value;
}
