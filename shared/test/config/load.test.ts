import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ConfigError } from "../../src/config/config-error.ts";
import { loadConfigFile } from "../../src/config/load.ts";

let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "farmgate-config-"));
});
afterAll(() => rm(directory, { recursive: true }));

it("reads a file with its environment, and tells where it stands", async () => {
  const file = join(directory, "a.yaml");
  await writeFile(file, "name: ${NAME}\n");
  const loaded = await loadConfigFile(file, { NAME: "box" });
  expect(loaded).toMatchObject({ file, directory, document: { value: { name: "box" } } });
});

it("says plainly that a file is not there, or cannot be read", async () => {
  const missing = loadConfigFile(join(directory, "none.yaml"), {});
  await expect(missing).rejects.toThrow(ConfigError);
  await expect(missing).rejects.toThrow(/none\.yaml: cannot be read: no such file$/);
  await expect(loadConfigFile(directory, {})).rejects.toThrow(/cannot be read: it is a folder$/);
});

it("lists every problem on its own line", () => {
  const error = new ConfigError("farm.yaml", [
    { path: "workers[0].url", line: 3, message: "is wrong" },
    { path: "", line: 9, message: "not valid YAML" },
    { path: "name", line: null, message: "is missing" },
  ]);
  expect(error.message).toBe(
    "farm.yaml:3: workers[0].url: is wrong\nfarm.yaml:9: not valid YAML\nfarm.yaml: name: is missing",
  );
});
