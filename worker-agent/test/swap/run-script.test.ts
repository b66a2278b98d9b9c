import { readFileSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Environment } from "@farmgate/shared";
import { createSystemClock } from "@farmgate/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { RunningNotes } from "../../src/swap/running-note.ts";
import { runScript, type ScriptRun } from "../../src/swap/run-script.ts";
import { tempDirectory, writeScript } from "../support/agent-rig.ts";
import { isAlive, until } from "../support/conditions.ts";

const clock = createSystemClock();

async function prepare(text: string, options: Partial<ScriptRun> & { args?: string[] } = {}) {
  const directory = await tempDirectory();
  const script = await writeScript(directory, "swap.sh", text);
  const outputFile = join(directory, "out.log");
  const run = (environment: Environment = {}) =>
    runScript({
      words: [script, ...(options.args ?? ["coder"])],
      directory,
      environment: { PATH: process.env["PATH"], FARMGATE_MODEL: "coder", ...environment },
      outputFile,
      notes: new RunningNotes(join(directory, "running")),
      timeoutMs: 10_000,
      clock,
      signal: new AbortController().signal,
      ...options,
    });
  const pidIn = async (name: string) => {
    const text = await readFile(join(directory, name), "utf8").catch(() => "");
    return text.endsWith("\n") ? Number(text) : 0;
  };
  return { directory, outputFile, run, pidIn };
}

describe("a swap script", () => {
  it("gets its arguments and its environment, no input, and a file for its output", async () => {
    const { run, outputFile } = await prepare(
      `#!/bin/sh\ncat\necho "$1 $FARMGATE_MODEL \${FARMGATE_TEST_SECRET:-none}"\necho loud >&2\n`,
    );
    process.env["FARMGATE_TEST_SECRET"] = "x";
    onTestFinished(() => void delete process.env["FARMGATE_TEST_SECRET"]);
    expect(await run()).toEqual({ ok: true, tail: "coder coder none\nloud" });
    expect(await readFile(outputFile, "utf8")).toBe("coder coder none\nloud\n");
  });

  it("fails by its exit code, with the last lines that it wrote", async () => {
    const { run } = await prepare(
      `#!/bin/sh\nfor i in $(seq 1 100); do echo "line $i"; done\nprintf '\\033[31mno memory\\033[0m\\n' >&2\nexit 3\n`,
    );
    const result = await run();
    expect(result).toMatchObject({ ok: false, reason: "ended with exit code 3" });
    const lines = result.tail.split("\n");
    expect(lines).toHaveLength(20);
    expect(lines.at(-1)).toBe("no memory");
    expect(lines[0]).toBe("line 82");
  });

  it("starts with an empty output file each time", async () => {
    const { run, outputFile } = await prepare("#!/bin/sh\necho once\n");
    await run();
    await run();
    expect(await readFile(outputFile, "utf8")).toBe("once\n");
  });

  it("leaves an engine in the background alive, and does not wait for it", async () => {
    const { run, pidIn, outputFile } = await prepare(
      `#!/bin/sh\n(echo engine up; exec sleep 60) &\necho $! > engine.pid\nexit 0\n`,
    );
    expect(await run()).toMatchObject({ ok: true });
    const pid = await pidIn("engine.pid");
    onTestFinished(() => void process.kill(pid, "SIGKILL"));
    expect(isAlive(pid)).toBe(true);
    await until(async () => (await readFile(outputFile, "utf8")).includes("engine up"));
    expect(isAlive(pid)).toBe(true);
  });

  it("is ended when it takes too long", async () => {
    const { run } = await prepare("#!/bin/sh\nexec sleep 60\n", { timeoutMs: 200 });
    expect(await run()).toMatchObject({ ok: false, reason: "did not end within 200 ms" });
  });

  it("is ended early when the agent stops, with everything that it started, also what ignores SIGTERM", async () => {
    const stop = new AbortController();
    const { run, pidIn } = await prepare(
      `#!/bin/sh\nsh -c 'trap "" TERM; echo $$ > stubborn.pid; while :; do sleep 0.1; done' &\nsleep 60 &\necho $! > child.pid\nwait\n`,
      { signal: stop.signal },
    );
    const running = run();
    const pids = () => Promise.all(["stubborn.pid", "child.pid"].map(pidIn));
    await until(async () => (await pids()).every((pid) => pid > 0));
    stop.abort();
    expect(await running).toMatchObject({ ok: false, reason: "was stopped" });
    for (const pid of await pids()) await until(() => !isAlive(pid) || isZombie(pid));
  });

  it("stays noted until what it has begun is at its end, whatever came of it", async () => {
    const seen: string[][] = [];
    const { run, directory } = await prepare("#!/bin/sh\nexit 0\n", {
      finish: async ({ tail }) => {
        seen.push(await readdir(join(directory, "running")));
        return { ok: false, reason: "was not ready", tail };
      },
    });
    expect(await run()).toEqual({ ok: false, reason: "was not ready", tail: "" });
    expect(seen).toEqual([[expect.stringMatching(/json$/)]]);
    expect(await readdir(join(directory, "running"))).toEqual([]);
  });

  it("stays noted when the agent stops before that", async () => {
    const stop = new AbortController();
    const { run, directory } = await prepare("#!/bin/sh\nexit 0\n", {
      signal: stop.signal,
      finish: async ({ tail }) => {
        stop.abort();
        return { ok: false, reason: "the wait was stopped", tail };
      },
    });
    await run();
    expect(await readdir(join(directory, "running"))).toEqual([expect.stringMatching(/json$/)]);
  });

  it("is noted while it runs, and not any longer", async () => {
    const { run, directory } = await prepare("#!/bin/sh\nwhile [ ! -f go ]; do sleep 0.02; done\n");
    const notes = () => readdir(join(directory, "running")).catch(() => []);
    const running = run();
    await until(async () => (await notes()).some((name) => name.endsWith(".json")));
    await writeFile(join(directory, "go"), "");
    await running;
    expect(await notes()).toEqual([]);
  });

  it("tells a signal that ended it", async () => {
    const { run } = await prepare("#!/bin/sh\nkill -9 $$\n");
    expect(await run()).toMatchObject({ ok: false, reason: "was ended by SIGKILL" });
  });

  it("that is missing is a clear failure", async () => {
    const { run } = await prepare("", { words: ["./missing.sh"] });
    expect(await run()).toEqual({
      ok: false,
      reason: "cannot be run: no such file, or its interpreter is missing",
      tail: "",
    });
  });

  it("that is not executable is a clear failure", async () => {
    const { run, directory } = await prepare("#!/bin/sh\n");
    await chmod(join(directory, "swap.sh"), 0o644);
    expect(await run()).toEqual({ ok: false, reason: "cannot be run: it is not executable", tail: "" });
  });

  it("whose interpreter is missing is a failure that its output explains", async () => {
    const { run } = await prepare("#!/nowhere/sh\n");
    const result = await run();
    expect(result).toMatchObject({ ok: false, reason: "ended with exit code 127" });
    expect(result.tail).toContain("not found");
  });

  it("is found on the PATH, and a folder there is none", async () => {
    const { run, directory } = await prepare("#!/bin/sh\necho found\n", { words: ["swap.sh"] });
    await mkdir(join(directory, "other", "swap.sh"), { recursive: true });
    const path = (...folders: string[]) => ({ PATH: [...folders, "/usr/bin", "/bin"].join(":") });
    expect(await run(path(join(directory, "other"), directory))).toEqual({ ok: true, tail: "found" });
    expect(await run(path(join(directory, "other")))).toMatchObject({ reason: "cannot be run: it is not executable" });
    expect(await run(path())).toMatchObject({
      reason: "cannot be run: no such file, or its interpreter is missing",
    });
  });

  it("keeps its words as they are, whatever a shell would make of them", async () => {
    const words = ["$HOME", "`id`", "a b", "", "*", "; exit 3", "'\"\\", "-n", "3<&-"];
    const { run } = await prepare(`#!${process.execPath}\nconsole.log(JSON.stringify(process.argv.slice(2)));\n`, {
      args: words,
    });
    expect(await run()).toEqual({ ok: true, tail: JSON.stringify(words) });
  });

  it("without a #! line is run by the shell, as a terminal does it", async () => {
    const { run } = await prepare("echo hi $1\n");
    expect(await run()).toEqual({ ok: true, tail: "hi coder" });
  });
});

/** Nobody waits for orphans in some containers: ended, but still listed. */
function isZombie(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return true;
  }
}
