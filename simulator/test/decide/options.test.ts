import { parseConfig } from "@farmgate/shared";
import { expect, test } from "vitest";
import { engineOptionsFromFlags } from "../../src/decide/flags.ts";
import { engineOptionsSchema } from "../../src/decide/options.ts";

const problems = (text: string) => {
  const parsed = parseConfig(engineOptionsSchema, text, {});
  return parsed.ok ? [] : parsed.problems.map(({ path, message }) => `${path}: ${message}`);
};

test("a name is enough for a model, and it takes the engine's load time", () => {
  const parsed = parseConfig(engineOptionsSchema, "models: [a, { name: b, load: 5s, aliases: [c] }]\nload: 1s", {});
  expect(parsed).toMatchObject({
    ok: true,
    value: {
      listen: { host: "127.0.0.1", port: 8080 },
      slots: 4,
      models: [
        { name: "a", load: 1_000, loaded: false, kind: "chat" },
        { name: "b", load: 5_000, aliases: ["c"] },
      ],
    },
  });
});

test("problems carry their path", () => {
  expect(problems("models: []")).toEqual(["models: must name a model"]);
  expect(problems("models: [a, { name: b, aliases: [a] }]")).toEqual(['models[1]: "a" is named twice']);
  expect(problems("models: [{ name: a, speed: 3 }]")).toEqual(["models[0].speed: unknown key"]);
  expect(problems("models: [a, b]\nsingle: true")).toEqual(["models: a single-model engine has one model"]);
  expect(problems("models: [{name: a, loaded: true}, {name: b, loaded: true}]\nmaxLoaded: 1")).toEqual([
    "models: more models are loaded than maxLoaded allows",
  ]);
  expect(problems("models: [a]\nfail: [hang, explode]")[0]).toContain('fail[1]: "explode" is no failure');
});

test("flags become options", () => {
  const outcome = engineOptionsFromFlags({
    port: "9001",
    models: "a, b",
    embedding: "e",
    loaded: "b,e",
    load: "300ms",
    slots: "2",
    promptSpeed: "0",
    tokensPerSecond: "5000",
    maxLoaded: "2",
    autoload: false,
    fail: ["hang@a", "slow"],
  });
  expect(outcome).toMatchObject({
    ok: true,
    options: {
      listen: { host: "127.0.0.1", port: 9_001 },
      models: [
        { name: "a", kind: "chat", loaded: false, load: 300 },
        { name: "b", kind: "chat", loaded: true },
        { name: "e", kind: "embedding", loaded: true },
      ],
      slots: 2,
      promptTokensPerSecond: 0,
      tokensPerSecond: 5_000,
      maxLoaded: 2,
      autoload: false,
      fail: [{ effect: { kind: "hang" } }, { effect: { kind: "slow" } }],
    },
  });
});

test("without a model it runs a demo", () => {
  expect(engineOptionsFromFlags({})).toMatchObject({ ok: true });
});

test("every wrong flag is named, as it was typed", () => {
  const outcome = engineOptionsFromFlags({
    port: "80x",
    models: "a",
    load: "soon",
    promptSpeed: "-1",
    context: "0",
    loaded: "z",
    fail: ["boom"],
  });
  const text = outcome.ok ? "" : outcome.problems.join("\n");
  for (const flag of ["--port", "--load", "--prompt-speed", "--context", "--loaded", "--fail"]) {
    expect(text).toContain(`${flag}: `);
  }
});
