import { execFile } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { parseDuration } from "@farmgate/shared";
import { afterEach, describe, expect, test } from "vitest";
import { findProgram } from "../bench/targets/find-program.ts";
import { Cleanup } from "../harness/farmgate-process.ts";
import { filesIn, isThere, pathOf, textOf, yamlOf } from "./deploy-files.ts";
import { type Plist, readPlist } from "./read-plist.ts";

const cleanup = new Cleanup();
afterEach(() => cleanup.run());
const run = promisify(execFile);

const units = filesIn("deploy/systemd").filter((path) => path.endsWith(".service"));
const plists = filesIn("deploy/launchd");
const scripts = filesIn("deploy/swap");
const SYSTEMD = findProgram("systemd-analyze");
const SHELLCHECK = findProgram("shellcheck");

/** Settings of a unit, by section and name. */
function settingsOf(path: string): Map<string, string> {
  const settings = new Map<string, string>();
  let section = "";
  for (const line of textOf(path).split("\n")) {
    if (line === "" || line.startsWith("#")) continue;
    const head = /^\[(\w+)\]$/.exec(line)?.[1];
    const [, name, value = ""] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (head !== undefined) section = head;
    else if (name !== undefined) settings.set(`${section}.${name}`, value);
    else throw new Error(`${path}: neither a section nor a setting: ${line}`);
  }
  return settings;
}

describe("deploy/systemd", () => {
  test.each(units)("%s holds back what it does not need", (path) => {
    const settings = settingsOf(path);
    expect([...settings.keys()].map((key) => key.split(".")[0])).toEqual(
      expect.arrayContaining(["Unit", "Service", "Install"]),
    );
    const service = (name: string) => settings.get(`Service.${name}`);
    expect(service("NoNewPrivileges")).toBe("yes");
    expect(service("ProtectSystem")).toBe("strict");
    expect(service("CapabilityBoundingSet")).toBe("");
    expect(service("DynamicUser") ?? service("User")).toBeDefined();
    expect(Number(service("LimitNOFILE"))).toBeGreaterThanOrEqual(65_536);
  });

  test.each(["gateway", "agent"])("the %s's unit waits for its drain, and knows a file with a mistake", (kind) => {
    const settings = settingsOf(`deploy/systemd/farmgate-${kind}.service`);
    const { drain } = yamlOf(`docs/${kind}.yaml`) as { drain: string };
    expect(Number(settings.get("Service.TimeoutStopSec")) * 1_000).toBeGreaterThan(parseDuration(drain) ?? 0);
    expect(settings.get("Service.RestartPreventExitStatus")).toBe("2");
    expect(settings.get("Service.ExecStart")).toMatch(new RegExp(`main\\.js ${kind} --config /etc/farmgate/`));
  });

  test("an engine outlives its agent", () => {
    expect(settingsOf("deploy/systemd/farmgate-agent.service").get("Service.KillMode")).toBe("process");
  });

  test.skipIf(SYSTEMD === undefined)("systemd takes the units (skipped where it is not installed)", async () => {
    const folder = await cleanup.folder();
    const program = join(folder, "program");
    await writeFile(program, "");
    await chmod(program, 0o755);
    const files = units.map((path) => join(folder, basename(path).replace("@", "@m")));
    for (const [i, file] of files.entries()) {
      // The programs are not on this machine.
      await writeFile(file, textOf(units[i] ?? "").replaceAll(/^ExecStart=\S+/gm, `ExecStart=${program}`));
    }
    const { stdout, stderr } = await run(SYSTEMD ?? "", ["verify", "--man=no", ...files]);
    expect((stdout + stderr).split("\n").filter((line) => line.includes(folder))).toEqual([]);
  });
});

describe("deploy/launchd", () => {
  const dict = (path: string) => readPlist(textOf(path)) as Record<string, Plist>;

  test.each(plists)("%s is a service by its own name", (path) => {
    const plist = dict(path);
    expect(`${plist["Label"] as string}.plist`).toBe(basename(path));
    expect((plist["ProgramArguments"] as string[])[0]).toMatch(/^\//);
    expect(plist["ProcessType"]).toBe("Interactive");
  });

  test.each(["gateway", "agent"])(
    "the %s's is ended in its own time, and its file is where it looks for it",
    (kind) => {
      const plist = dict(`deploy/launchd/com.farmgate.${kind}.plist`);
      const { drain } = yamlOf(`docs/${kind}.yaml`) as { drain: string };
      expect((plist["ExitTimeOut"] as number) * 1_000).toBeGreaterThan(parseDuration(drain) ?? 0);
      expect(plist["KeepAlive"]).toEqual({ SuccessfulExit: false });
      expect((plist["ProgramArguments"] as string[])[2]).toMatch(
        new RegExp(`exec \\S+ \\S+ ${kind} --config ${kind}.yaml$`),
      );
    },
  );

  test("models have the ports that the Mac's file has for them", () => {
    const { models } = yamlOf("deploy/examples/mac.yaml") as { models: { name: string; url: string }[] };
    for (const { name, url } of models) {
      const words = dict(`deploy/launchd/farm.${name}.plist`)["ProgramArguments"] as string[];
      expect(words[words.indexOf("--port") + 1]).toBe(new URL(url).port);
    }
  });

  test("a plist that is none is refused", () => {
    expect(() => readPlist("<plist><dict><key>Label</key></dict></plist>")).toThrow("not a value");
    expect(() => readPlist("<plist><dict><key>Label</key><string>a</dict></plist>")).toThrow("</string>");
  });
});

describe("deploy/swap", () => {
  test("the examples' comments name scripts that are there", () => {
    const named = ["gpu-box", "mac"].flatMap(
      (name) => /# (deploy\/swap\/\S+\.sh)/.exec(textOf(`deploy/examples/${name}.yaml`))?.[1] ?? [],
    );
    expect(named).toHaveLength(2);
    expect(named.every(isThere)).toBe(true);
  });

  test.each(scripts)("a shell takes %s", async (path) => {
    await expect(run("sh", ["-n", pathOf(path)])).resolves.toEqual({ stdout: "", stderr: "" });
    expect(textOf(path)).toContain("\nset -eu\n");
  });

  test.skipIf(SHELLCHECK === undefined)("shellcheck finds nothing (skipped where it is not installed)", async () => {
    const { stdout } = await run(SHELLCHECK ?? "", scripts.map(pathOf)).catch((error: { stdout: string }) => error);
    expect(stdout).toBe("");
  });
});
