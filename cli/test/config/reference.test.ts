import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { agentConfigSchema } from "@farmgate/worker-agent";
import { gatewayConfigSchema } from "@farmgate/gateway";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { problemsOf } from "../../src/config/check-file.ts";
import { openConfig } from "../../src/config/open-config.ts";

const docs = fileURLToPath(new URL("../../../docs/", import.meta.url));
/** Refused by this version, so that there is nothing to write about it. */
const NOT_OFFERED = new Set(["redis"]);

/** `a.b` for every key of the value, list elements taken together; what is inside `free` is the owner's own naming. */
function keysOf(value: unknown, free: ReadonlySet<string>, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => keysOf(item, free, path));
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = free.has(path) ? `${path}.*` : `${path}.${key}`;
    return [here, ...keysOf(inner, free, here)];
  });
}

const AGENT_FREE = new Set([".engines.models"]);
const GATEWAY_FREE = new Set([".models.aliases", ".models.fallbacks", ".models.keepWarm"]);

test.each([
  ["agent.yaml", agentConfigSchema, AGENT_FREE],
  ["gateway.yaml", gatewayConfigSchema, GATEWAY_FREE],
] as const)("%s is taken and names every key that there is", async (name, schema, free) => {
  expect(problemsOf(await openConfig(docs + name, { ALICE_KEY: "a", PEER_KEY: "p", FARM_KEY: "f" }))).toEqual([]);
  const written: unknown = parse(readFileSync(docs + name, "utf8").replaceAll(/\$\{\w+_KEY\}/g, "a"));
  const known = new Set(keysOf(written, free));
  const missing = keysOf(schema.parse(written), free).filter(
    (key) => !known.has(key) && !NOT_OFFERED.has(key.slice(1)),
  );
  // Inside of it nothing but its own two limits can stand.
  expect(missing.filter((key) => !key.includes(".drainOnAbort."))).toEqual([]);
});
