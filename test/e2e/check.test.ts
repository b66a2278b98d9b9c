import { afterAll, expect, test } from "vitest";
import { Cleanup } from "../harness/farmgate-process.ts";
import { run, written } from "./cli-process.ts";

const cleanup = new Cleanup();
afterAll(() => cleanup.run());

test("a good file is ok", async () => {
  const file = await written(cleanup, "good.yaml", "workers:\n  - { name: a, url: 'http://127.0.0.1:9' }\n");
  expect(await run(["check", file])).toEqual({ code: 0, stdout: "ok\n", stderr: "" });
});

test("an agent's file is ok with the longest wait at that agent, and a warning where a gateway might refuse others too soon", async () => {
  const models = ["a", "b", "c"].map((name, at) => `  - { name: ${name}, url: 'http://127.0.0.1:${at + 1}' }`);
  const text = ["name: gpu-box", "swap: { command: systemctl }", "models:", ...models, ""].join("\n");
  const file = await written(cleanup, "agent.yaml", text);
  const { code, stdout, stderr } = await run(["check", file]);
  expect(code).toBe(0);
  expect(stdout.split("\n")).toEqual(["ok", expect.stringMatching(/^gpu-box: a request waits at most 22 min: /), ""]);
  expect(stderr).toMatch(/^warning: .*agent\.yaml(:\d+)?: queue: a place at gpu-box may be taken for 23 min 1 s, /);
});

test("every problem is told with its line and path, in the order of the file", async () => {
  const file = await written(
    cleanup,
    "bad.yaml",
    [
      "lisen: { port: 8400 }",
      "workers:",
      "  - { name: a, url: 'http://127.0.0.1:9' }",
      "  - name: a",
      "    url: ftp://127.0.0.1",
      "    apiKey: ${FARMGATE_E2E_UNSET}",
      "drain: soon",
      "",
    ].join("\n"),
  );
  const { code, stdout } = await run(["check", file]);
  expect(code).toBe(1);
  expect(stdout.trim().split("\n")).toEqual([
    `${file}:1: lisen: unknown key; did you mean listen?`,
    `${file}:5: workers[1].url: must be an http:// or https:// address`,
    `${file}:6: workers[1].apiKey: environment variable FARMGATE_E2E_UNSET is not set`,
    `${file}:7: drain: must be a duration such as 500ms, 5s or 10m`,
  ]);
});

test("a worker named twice", async () => {
  const file = await written(
    cleanup,
    "twice.yaml",
    "workers:\n  - { name: a, url: 'http://x' }\n  - { name: a, url: 'http://y' }\n",
  );
  const { code, stdout } = await run(["check", file]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/^.*twice\.yaml:3: workers\[1\]\.name: [^\n]*a[^\n]*\n$/);
});

test("broken YAML", async () => {
  const file = await written(cleanup, "broken.yaml", "workers:\n  - { name: a\n");
  const { code, stdout } = await run(["check", file]);
  expect(code).toBe(1);
  expect(stdout).toMatch(/broken\.yaml:\d+: not valid YAML/);
});

test("a gateway that is not to be reached ends status and explain with 1", async () => {
  for (const args of [["status"], ["explain", "m"]]) {
    const { code, stderr } = await run([...args, "--gateway", "http://127.0.0.1:1"]);
    expect(code).toBe(1);
    expect(stderr).toContain("no answer from a gateway at http://127.0.0.1:1");
  }
});
