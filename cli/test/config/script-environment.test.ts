import { readDocument } from "@farmgate/shared";
import { expect, test } from "vitest";
import { scriptEnvironment } from "../../src/config/script-environment.ts";

test("a script sees everything but the variables that stand where a key or a password stands", () => {
  const env = { PATH: "/bin", FARM: "f", WORKER: "w", STATE: "redis://:s@h", MODEL_DIR: "/m", UNSET: undefined };
  const { env: uses } = readDocument(
    "keys: [{ name: a, key: '${FARM}' }]\nworkers: [{ apiKey: 'x-${WORKER}' }]\nredis: '${STATE}'\n" +
      "models: [{ keyboard: '${MODEL_DIR}' }]",
    env,
  );
  expect(scriptEnvironment(env, uses)).toEqual({ PATH: "/bin", MODEL_DIR: "/m" });
});
