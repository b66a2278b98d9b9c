import type { Environment, EnvUse } from "@farmgate/shared";

const SECRET_PLACE = /(^|\.)(key|apiKey|redis)$/;

/**
 * The environment that a swap script or an engine gets: this process's own, without the variables which the file
 * uses as a key (`apiKey: ${GPU_BOX_KEY}`) or for an address that holds a password (`redis`).
 */
export function scriptEnvironment(env: Environment, uses: readonly EnvUse[]): Record<string, string> {
  const secret = new Set(uses.filter((use) => SECRET_PLACE.test(use.path)).map((use) => use.name));
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !secret.has(name)) kept[name] = value;
  }
  return kept;
}
