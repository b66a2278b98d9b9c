import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { problemsOf } from "../../src/config/check-file.ts";
import { openConfig } from "../../src/config/open-config.ts";

const deploy = fileURLToPath(new URL("../../../deploy/", import.meta.url));
const demo = fileURLToPath(new URL("../../demo/farm.yaml", import.meta.url));
const names = ["ALICE_KEY", "BUILD_KEY", "GPU_BOX_KEY", "MAC_KEY", "CPU_HOST_KEY"];
const composeNames = ["ADMIN_KEY", "FARM_KEY", "METRICS_KEY", "BOX_KEY"];
const env = {
  ...Object.fromEntries([...names, ...composeNames].map((name) => [name, name.toLowerCase()])),
  REDIS_URL: "redis://redis:6379",
};
/** Refused by this version. */
const NOT_OFFERED = new Set(["redis"]);

const yamlIn = (folder: string) =>
  readdirSync(deploy + folder).flatMap((name) => (name.endsWith(".yaml") ? [`${folder}/${name}`] : []));
const files = [...yamlIn("examples"), ...yamlIn("compose"), "kubernetes/base/gateway.yaml"];

test("there are examples for the gateway and three machines", () => {
  expect(yamlIn("examples").toSorted()).toEqual(
    ["cpu-host.yaml", "gateway.yaml", "gpu-box.yaml", "mac.yaml"].map((name) => `examples/${name}`),
  );
});

test.each([...files.map((name) => deploy + name), demo])("%s has no problem", async (file) => {
  const opened = await openConfig(file, env);
  expect(problemsOf(opened).filter(({ path }) => !NOT_OFFERED.has(path))).toEqual([]);
});

test.each(files.map((name) => [name, name.endsWith("gateway.yaml") ? "gateway" : "agent"]))(
  "%s is taken for the kind that it is",
  async (name, kind) => {
    expect((await openConfig(deploy + name, env)).kind).toBe(kind);
  },
);
