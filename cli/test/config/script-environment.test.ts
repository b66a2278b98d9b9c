import { readDocument } from "@farmgate/shared";
import { expect, test } from "vitest";
import { scriptEnvironment } from "../../src/config/script-environment.ts";

test("a script sees everything but the variables that stand where a key or a password stands", () => {
  const env = { PATH: "/bin", FARM: "f", WORKER: "w", STATE: "redis://:s@h", MODEL_DIR: "/m", UNSET: undefined };
  const document = readDocument(
    "keys: [{ name: a, key: '${FARM}' }]\nworkers: [{ apiKey: 'x-${WORKER}' }]\nredis: '${STATE}'\n" +
      "models: [{ keyboard: '${MODEL_DIR}' }]",
    env,
  );
  expect(scriptEnvironment(env, document)).toEqual({ PATH: "/bin", MODEL_DIR: "/m" });
});

test("nor does it see the same secret by another name, be that in the environment or in the file", () => {
  const env = {
    PATH: "/bin:/usr/bin",
    HOME: "/home/farm",
    FARM: "f-secret-value",
    COPY: "f-secret-value",
    HEADER: "Bearer f-secret-value",
    LITERAL: "written-in-the-file",
    SHORT: "abc",
    CERTIFICATES: "/etc/farm",
    OTHER: "xabcx",
  };
  const document = readDocument(
    "keys:\n  - { name: a, key: '${FARM}' }\n  - { name: b, key: written-in-the-file }\n  - { name: c, key: abc }\n" +
      "tls: { cert: '${CERTIFICATES}/a.pem', key: '${CERTIFICATES}/a.key' }",
    env,
  );
  expect(scriptEnvironment(env, document)).toEqual({
    PATH: "/bin:/usr/bin",
    HOME: "/home/farm",
    CERTIFICATES: "/etc/farm",
    OTHER: "xabcx",
  });
});
