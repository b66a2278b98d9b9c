import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { welcome, type WelcomeFacts } from "../../src/up/welcome.ts";

const facts: WelcomeFacts = {
  url: "http://127.0.0.1:8400",
  origin: "named",
  file: "farm.yaml",
  engines: [],
  model: "qwen3-4b",
  keyNeeded: false,
  certificateNames: null,
  troubles: [],
  command: "farmgate",
};

test("the demo farm is said to be simulated", () => {
  expect(welcome({ ...facts, origin: "demo" })).toContain("SIMULATED");
  expect(welcome(facts)).not.toContain("SIMULATED");
});

test("the commands name the address, the model and, where one is needed, the key", () => {
  const text = welcome({ ...facts, url: "http://127.0.0.1:9000", keyNeeded: true });
  expect(text).toContain('curl -H "Authorization: Bearer $FARMGATE_KEY" http://127.0.0.1:9000/v1/models');
  expect(text).toContain("export FARMGATE_KEY=");
  expect(text).toContain('"model":"qwen3-4b"');
  expect(text).toContain("farmgate status --gateway http://127.0.0.1:9000");
});

test("a model's name stays inside the command's quotes, whatever it is", () => {
  const text = welcome({ ...facts, model: "it's $(here) `too`" });
  const data = / -d (.*)$/m.exec(text)?.[1] ?? "";
  const typed = execFileSync("sh", ["-c", `printf %s ${data}`], { encoding: "utf8" });
  expect(JSON.parse(typed)).toMatchObject({ model: "it's $(here) `too`" });
});

test("the text of the demo farm fits a terminal of eighty columns, but for the command with the body", () => {
  const lines = welcome({ ...facts, origin: "demo", command: "npm run farmgate --" }).split("\n");
  expect(lines.filter((line) => line.length > 80 && !/^ {2,}/.test(line))).toEqual([]);
});

test("found engines and programs that are not up are told", () => {
  const engines = [
    { name: "ollama", url: "http://127.0.0.1:11434", models: ["a", "b"] },
    { name: "lmstudio", url: "http://127.0.0.1:1234", models: ["c"] },
  ];
  expect(welcome({ ...facts, origin: "found-engines", engines })).toContain(
    "ollama at http://127.0.0.1:11434 (2 models), lmstudio at http://127.0.0.1:1234 (1 model)",
  );
});
