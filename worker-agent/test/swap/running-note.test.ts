import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createSystemClock } from "@farmgate/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { identityOf, type ProcessIdentity } from "../../src/swap/process-identity.ts";
import { endLeftover, noteRunning } from "../../src/swap/running-note.ts";
import { tempDirectory } from "../support/agent-rig.ts";
import { isAlive, until } from "../support/conditions.ts";

const clock = createSystemClock();

/** A process that leads a group of its own, as a script does. */
async function running(): Promise<ProcessIdentity> {
  const child = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  await once(child, "spawn");
  onTestFinished(() => void child.kill("SIGKILL"));
  const found = await identityOf(child.pid!);
  if (found === null) throw new Error("it runs, but is not found");
  return found;
}

const noteFile = async () => join(await tempDirectory(), "running.json");
const gone = { pid: 2 ** 22 + 1, start: "1" };

describe("the note of a running script", () => {
  it("stands while the script runs, with the agent's identity", async () => {
    const file = await noteFile();
    const script = await running();
    const forget = noteRunning(file, script.pid);
    await until(async () => (await readFile(file, "utf8").catch(() => "")) !== "");
    expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ agent: await identityOf(process.pid), script });
    await forget();
    await expect(readFile(file, "utf8")).rejects.toThrow("ENOENT");
  });

  it("lets the next agent end the script of one that was killed", async () => {
    const file = await noteFile();
    const script = await running();
    await writeFile(file, JSON.stringify({ agent: gone, script }));
    expect(await endLeftover(file, clock)).toBe(true);
    await until(() => !isAlive(script.pid));
    expect(await endLeftover(file, clock)).toBe(false);
  });

  it.each<[string, (script: ProcessIdentity) => Promise<object> | object]>([
    ["whose agent lives", async (script) => ({ agent: await identityOf(process.pid), script })],
    [
      "whose id another process has now",
      (script) => ({ agent: gone, script: { ...script, start: `${script.start}0` } }),
    ],
    ["of another form", (script) => ({ script })],
  ])("ends nothing for a note %s", async (_what, note) => {
    const file = await noteFile();
    const script = await running();
    await writeFile(file, JSON.stringify(await note(script)));
    expect(await endLeftover(file, clock)).toBe(false);
    expect(await identityOf(script.pid)).toEqual(script);
  });

  it("ends nothing without a note, or for one that was cut off", async () => {
    const file = await noteFile();
    expect(await endLeftover(file, clock)).toBe(false);
    await writeFile(file, '{"agent":');
    expect(await endLeftover(file, clock)).toBe(false);
  });
});

describe("the identity of a process", () => {
  it("is nobody's once it has ended", async () => {
    const child = spawn("true", { stdio: "ignore" });
    await once(child, "exit");
    expect(await identityOf(child.pid!)).toBeNull();
  });
});
