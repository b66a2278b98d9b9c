import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { gatewayPart } from "../../src/config/gateway-part.ts";
import { openConfig } from "../../src/config/open-config.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "farmgate-part-"));
});
afterEach(() => rm(folder, { recursive: true }));

it.each([
  ["./learned", "learned"],
  ["/var/lib/farmgate", "/var/lib/farmgate"],
])("the folder of what placement learns is beside the file: %s", async (stateDir, expected) => {
  const file = join(folder, "gateway.yaml");
  await writeFile(file, `workers: []\nplacement: { mode: auto, stateDir: ${stateDir} }\n`);
  const { placement } = gatewayPart(await openConfig(file, {}), null);
  expect(placement.stateDir).toBe(expected.startsWith("/") ? expected : join(folder, expected));
});
