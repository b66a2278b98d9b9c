import type { ConfigDocument, Environment } from "@farmgate/shared";

const SECRET_PLACE = /(^|\.)(key|apiKey|redis)$/;
/** It names a file, and what that holds is nowhere in the environment. */
const FILE_PLACE = /(^|\.)tls\.key$/;
/** A secret below this length may well stand inside of something else by chance. */
const TELLING_LENGTH = 8;

/**
 * The environment that a swap script or an engine gets: this process's own, without
 * 1. the variables which the file uses as a key (`apiKey: ${GPU_BOX_KEY}`) or for an address that holds a password
 *    (`redis`);
 * 2. any other that holds the same value, or a key that stands in the file itself, by whatever name.
 */
export function scriptEnvironment(
  env: Environment,
  { env: uses, value: file }: Pick<ConfigDocument, "env" | "value">,
): Record<string, string> {
  const used = new Set(uses.filter(({ path }) => isSecretPlace(path)).map(({ name }) => name));
  const secrets = [...[...used].map((name) => env[name]), ...secretsIn(file, "")].filter((text) => !!text) as string[];
  const holdsSecret = (value: string) =>
    secrets.some((secret) => value === secret || (secret.length >= TELLING_LENGTH && value.includes(secret)));
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !used.has(name) && !holdsSecret(value)) kept[name] = value;
  }
  return kept;
}

function isSecretPlace(path: string): boolean {
  return SECRET_PLACE.test(path) && !FILE_PLACE.test(path);
}

/** What stands in the places of secrets of a configuration. */
function secretsIn(value: unknown, path: string): string[] {
  if (typeof value === "string") return isSecretPlace(path) ? [value] : [];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => secretsIn(inner, `${path}.${key}`));
}
