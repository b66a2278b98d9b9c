import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { problemsOf } from "../../src/config/check-file.ts";
import { openConfig } from "../../src/config/open-config.ts";

const examples = fileURLToPath(new URL("../../../deploy/examples/", import.meta.url));
const demo = fileURLToPath(new URL("../../demo/farm.yaml", import.meta.url));
const env = { ALICE_KEY: "a", BUILD_KEY: "b", GPU_BOX_KEY: "g", MAC_KEY: "m", CPU_HOST_KEY: "c" };

const files = readdirSync(examples).filter((name) => name.endsWith(".yaml"));

test("there are examples for the gateway and three machines", () => {
  expect(files.toSorted()).toEqual(["cpu-host.yaml", "gateway.yaml", "gpu-box.yaml", "mac.yaml"]);
});

test.each([...files.map((name) => examples + name), demo])("%s has no problem", async (file) => {
  const opened = await openConfig(file, env);
  expect(problemsOf(opened)).toEqual([]);
});

test.each([
  ["gateway.yaml", "gateway"],
  ["gpu-box.yaml", "agent"],
  ["mac.yaml", "agent"],
  ["cpu-host.yaml", "agent"],
])("%s is taken for the kind that it is", async (name, kind) => {
  expect((await openConfig(examples + name, env)).kind).toBe(kind);
});
