import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runProgram } from "../src/program.ts";
import { fakeIo } from "./fake-io.ts";

const folder = mkdtempSync(join(tmpdir(), "farmgate-program-"));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

async function run(...argv: string[]) {
  const io = fakeIo(argv);
  return { code: await runProgram(io), ...io.printed };
}

describe("usage", () => {
  test("--version and --help end with 0", async () => {
    expect(await run("--version")).toEqual({ code: 0, stdout: "9.9.9\n", stderr: "" });
    const help = await run("--help");
    expect(help.code).toBe(0);
    expect(await run("-h")).toEqual(help);
    for (const command of ["up", "gateway", "agent", "engine", "check", "status", "explain"]) {
      expect(help.stdout).toContain(`  ${command} `);
      const own = await run(command, "--help");
      expect(own).toMatchObject({ code: 0, stderr: "" });
      expect(own.stdout).toContain(`farmgate ${command}`);
    }
  });

  test.each([
    ["no command", [], /Usage: farmgate/],
    ["an unknown command", ["uo"], /unknown command 'uo'/],
    ["an unknown flag", ["up", "--verbose"], /unknown option '--verbose'/],
    ["a missing argument", ["check"], /missing required argument 'file'/],
    ["a missing option", ["gateway"], /required option '--config <file>'/],
    ["a port that is none", ["up", "--port", "70000"], /must be a port number/],
    ["two farms at once", ["up", "--demo", "--config", "x"], /exclude each other/],
    ["an address that is none", ["status", "--gateway", "localhost:8400"], /must be an http/],
    ["an API that there is none of", ["explain", "m", "--api", "telepathy"], /must be one of chat, completions, /],
    ["an engine that cannot be", ["engine", "--slots", "many"], /--slots: must be a whole number/],
  ])("%s ends with 2 and says so on standard error", async (_, argv, message) => {
    const { code, stdout, stderr } = await run(...argv);
    expect(code).toBe(2);
    expect(stdout).toBe("");
    expect(stderr).toMatch(message);
  });
});

test("a log level that there is not ends with 2 and names those that there are", async () => {
  const io = fakeIo(["check", "x.yaml"], { FARMGATE_LOG_LEVEL: "verbose" });
  expect(await runProgram(io)).toBe(2);
  expect(io.printed.stderr).toBe(
    'farmgate: FARMGATE_LOG_LEVEL is "verbose"; it must be one of trace, debug, info, warn, error, fatal, silent\n',
  );
});

describe("a file that does not fit its command", () => {
  test.each([
    ["gateway", "name: a\n", /is an agent's file; start it with: farmgate agent/],
    ["agent", "workers: []\n", /is a gateway's file; start it with: farmgate gateway/],
    ["up", "name: a\n", /is an agent's file/],
    ["engine", "workers: []\n", /is no farm file/],
  ])("%s says which command it is for", async (command, text, message) => {
    const { code, stderr } = await run(command, "--config", file("kind.yaml", text));
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });

  test("every problem is printed with its place", async () => {
    const path = file("bad.yaml", "workers:\n  - { name: a, url: ftp://x }\ndrain: never\n");
    const { code, stderr } = await run("gateway", "--config", path);
    expect(code).toBe(2);
    expect(stderr).toBe(
      `${path}:2: workers[0].url: must be an http:// or https:// address\n` +
        `${path}:3: drain: must be a duration such as 500ms, 5s or 10m\n`,
    );
  });

  test("an agent of a farm file is picked by name", async () => {
    const path = file(
      "two.yaml",
      "agents:\n  - { name: a, listen: { port: 1 } }\n  - { name: b, listen: { port: 2 } }\n",
    );
    expect((await run("agent", "--config", path)).stderr).toContain("lists 2 agents; pick one with --name: a, b");
    expect((await run("agent", "--config", path, "--name", "c")).stderr).toContain("no agent called c; it has: a, b");
  });
});

describe("check", () => {
  test("a good file is ok", async () => {
    expect(await run("check", file("ok.yaml", "workers: []\n"))).toEqual({ code: 0, stdout: "ok\n", stderr: "" });
  });

  test("problems end with 1, not with 2", async () => {
    const path = file("bad2.yaml", "name: a\nmodels: [{ name: m }]\n");
    const { code, stdout } = await run("check", path);
    expect(code).toBe(1);
    expect(stdout).toContain(`${path}:2: models[0].url: `);
  });

  test("a swap script that is not there is a warning, since the file may be meant for another machine", async () => {
    const path = file("agent.yaml", "name: a\nswap: { command: ./none.sh }\n");
    expect(await run("check", path)).toEqual({
      code: 0,
      stdout: "ok\n",
      stderr: `warning: ${path}:2: swap.command: there is no file ./none.sh\n`,
    });
  });

  test("broken YAML and a missing file are problems too", async () => {
    const broken = file("broken.yaml", "workers: [\n");
    const result = await run("check", broken);
    expect(result.code).toBe(1);
    expect(result.stdout).toMatch(/broken\.yaml:\d+: not valid YAML/);
    expect(await run("check", join(folder, "none.yaml"))).toMatchObject({ code: 1 });
  });
});
