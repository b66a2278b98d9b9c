import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSystemClock } from "@farmgate/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { identityOf, type ProcessIdentity } from "../../src/swap/process-identity.ts";
import { endLeftoverScripts, type NotedRun, RunningNotes } from "../../src/swap/running-note.ts";
import { tempDirectory } from "../support/agent-rig.ts";
import { isAlive, only, until } from "../support/conditions.ts";

const clock = createSystemClock();
const nothing = async () => {};
const run: NotedRun = { kind: "script", model: "m", url: "http://127.0.0.1:1", words: ["./swap.sh", "m"], run: "" };
const gone = { pid: 2 ** 22 + 1, start: "1" };

/** A process that leads a group of its own, as a script does. */
async function running(): Promise<ProcessIdentity> {
  const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  await once(child, "spawn");
  onTestFinished(() => void child.kill("SIGKILL"));
  const found = await identityOf(child.pid!);
  if (found === null) throw new Error("it runs, but is not found");
  return found;
}

async function prepare() {
  const directory = join(await tempDirectory(), "running");
  const notes = new RunningNotes(directory);
  /** The note as an agent left it that was killed; `changes` go over it. */
  const leaveBehind = async (process: ProcessIdentity, changes: object = {}) => {
    await mkdir(directory, { recursive: true });
    await writeFile(
      join(directory, `${process.pid}.0.json`),
      JSON.stringify({ agent: gone, process, ...run, ...changes }),
    );
  };
  return { directory, notes, leaveBehind };
}

describe("the note of a running process", () => {
  it("stands until it is taken away, with the agent's identity", async () => {
    const { directory, notes } = await prepare();
    const process = await running();
    const forget = await notes.add(process, run);
    const note = await readFile(join(directory, only(await readdir(directory))), "utf8");
    expect(JSON.parse(note)).toEqual({ agent: await identityOf(globalThis.process.pid), process, ...run });
    expect(await notes.leftovers("script")).toEqual([]);
    await forget();
    expect(await readdir(directory)).toEqual([]);
  });

  it("lets the next agent end the script of one that was killed", async () => {
    const { directory, notes, leaveBehind } = await prepare();
    const script = await running();
    await leaveBehind(script);
    expect(await endLeftoverScripts(notes, clock, nothing)).toBe(true);
    await until(() => !isAlive(script.pid));
    expect(await readdir(directory)).toEqual([]);
    expect(await endLeftoverScripts(notes, clock, nothing)).toBe(false);
  });

  it("stands until what its script had begun is brought to an end, which begins when the script is gone", async () => {
    const { directory, notes, leaveBehind } = await prepare();
    const script = await running();
    await leaveBehind(script);
    const seen: unknown[] = [];
    await endLeftoverScripts(notes, clock, async (note) => {
      seen.push(note.model, isAlive(script.pid), await readdir(directory));
    });
    expect(seen).toEqual(["m", false, [`${script.pid}.1.json`]]);
    expect(await readdir(directory)).toEqual([]);
  });

  it("is taken away when its process has ended, and what that left in the background lives on", async () => {
    const { directory, notes, leaveBehind } = await prepare();
    await leaveBehind(gone);
    expect(await endLeftoverScripts(notes, clock, nothing)).toBe(false);
    expect(await readdir(directory)).toEqual([]);
  });

  it.each<[string, (process: ProcessIdentity) => Promise<object> | object]>([
    ["whose agent lives", async () => ({ agent: await identityOf(globalThis.process.pid) })],
    ["whose id another process has now", (process) => ({ process: { ...process, start: `${process.start}0` } })],
    ["of another kind", () => ({ kind: "command" })],
    ["of another form", () => ({ agent: "me" })],
  ])("ends nothing for a note %s", async (_what, changes) => {
    const { notes, leaveBehind } = await prepare();
    const script = await running();
    await leaveBehind(script, await changes(script));
    expect(await endLeftoverScripts(notes, clock, nothing)).toBe(false);
    expect(await identityOf(script.pid)).toEqual(script);
  });

  it("ends nothing without a note, or for one that was cut off", async () => {
    const { directory, notes } = await prepare();
    expect(await endLeftoverScripts(notes, clock, nothing)).toBe(false);
    await mkdir(directory);
    await writeFile(join(directory, "1.0.json"), '{"agent":');
    expect(await endLeftoverScripts(notes, clock, nothing)).toBe(false);
  });

  it("is given to one of the agents that ask for it at once, and stays while that one lives", async () => {
    const { directory, notes, leaveBehind } = await prepare();
    const script = await running();
    await leaveBehind(script);
    const answers = await Promise.all(Array.from({ length: 8 }, () => new RunningNotes(directory).leftovers("script")));
    const { note, forget } = only(answers.flat());
    expect(note).toEqual({ agent: await identityOf(globalThis.process.pid), process: script, ...run });
    expect(await notes.leftovers("script")).toEqual([]);
    expect(await readdir(directory)).toEqual([`${script.pid}.1.json`]);
    await forget();
    expect(await readdir(directory)).toEqual([]);
  });

  it("counts in its latest form, when an agent was killed as it took it over", async () => {
    const { directory, notes, leaveBehind } = await prepare();
    const script = await running();
    await leaveBehind(script);
    const late = JSON.stringify({ agent: gone, process: script, ...run, model: "late" });
    await writeFile(join(directory, `${script.pid}.1.json`), late);
    const { note, forget } = only(await notes.leftovers("script"));
    expect(note.model).toBe("late");
    await forget();
    expect(await readdir(directory)).toEqual([]);
  });
});

describe("the identity of a process", () => {
  it("is nobody's once it has ended", async () => {
    const child = spawn("true", { stdio: "ignore" });
    await once(child, "exit");
    expect(await identityOf(child.pid!)).toBeNull();
  });
});
