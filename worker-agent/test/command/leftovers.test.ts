import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLog } from "@farmgate/wire";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ServedModel } from "../../src/served-model.ts";
import { only, until } from "../support/conditions.ts";
import type { HolderOrder } from "./holder-main.ts";
import { commandRig, isRunning, never } from "./rig.ts";

const MAIN = fileURLToPath(new URL("./holder-main.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** A holder in a process of its own, which loads the model at once. */
function otherAgent(directory: string, model: ServedModel, dieAt: HolderOrder["dieAt"] = null) {
  const order: HolderOrder = { directory, model, dieAt };
  const args = ["--conditions=@farmgate/source", "--import", "tsx", MAIN, JSON.stringify(order)];
  const child: ChildProcess = spawn(process.execPath, args, { cwd: ROOT, stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  let output = "";
  child.stdout?.on("data", (data: Buffer) => {
    output += data.toString();
  });
  const ended = once(child, "exit");
  return {
    child,
    ended,
    said: (text: string) => until(() => output.includes(text)),
    gate: () => Number(/gate (\d+)/.exec(output)?.[1]),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

const notesIn = (directory: string) => readdir(directory).catch(() => []);

describe("an agent that is killed", () => {
  it("before its command is noted leaves nothing: the command does not start without its agent", async () => {
    const rig = await commandRig();
    const agent = otherAgent(rig.directory, await rig.model("a"), "before the note");
    await agent.ended;
    await agent.said("gate ");
    await until(async () => !(await isRunning(agent.gate())));
    expect(await rig.started("a")).toEqual([]);
    expect(await notesIn(rig.notes)).toEqual([]);
  });

  it("between the note and the start leaves a note, and no command", async () => {
    const rig = await commandRig();
    const a = await rig.model("a");
    const agent = otherAgent(rig.directory, a, "after the note");
    await agent.ended;
    expect(await notesIn(rig.notes)).toHaveLength(1);
    const holder = rig.holder();
    await holder.endOrAdoptLeftovers([a]);
    expect(await isRunning(agent.gate())).toBe(false);
    expect(await rig.started("a")).toEqual([]);
    expect(await notesIn(rig.notes)).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "leaves what has left its command's group to the next agent, which ends it",
    async () => {
      const rig = await commandRig();
      const a = await rig.model("a", "child away", { stopGraceMs: 200 });
      const agent = otherAgent(rig.directory, a);
      await agent.said("loaded");
      await agent.kill();
      process.kill(only(await rig.running("a")), "SIGKILL");
      await until(async () => (await rig.running("a")).length === 0);
      expect(await rig.running("child")).toHaveLength(1);
      await rig.holder().endOrAdoptLeftovers([a]);
      expect(await rig.anyRunning()).toEqual([]);
      expect(await notesIn(rig.notes)).toEqual([]);
    },
  );

  it("while its command loads leaves one that the next agent ends", async () => {
    const rig = await commandRig();
    const a = await rig.model("a", "loading child", { stopGraceMs: 200 });
    const agent = otherAgent(rig.directory, a);
    await until(async () => (await rig.running("a")).length === 1);
    await agent.kill();
    expect(await rig.anyRunning()).toHaveLength(2);
    const holder = rig.holder();
    await holder.endOrAdoptLeftovers([a]);
    expect(await rig.anyRunning()).toEqual([]);
    expect(await holder.found([a], never)).toEqual([]);
    await writeFile(join(rig.directory, "go"), "");
    expect(await holder.load(a, null, never)).toMatchObject({ ok: true });
    expect(await rig.clashes()).toBe("");
  });

  it("leaves a ready command that the next agent adopts, and ends as its own", async () => {
    const rig = await commandRig();
    const a = await rig.model("a");
    const agent = otherAgent(rig.directory, a);
    await agent.said("loaded");
    await agent.kill();
    const log = createLog("agent", "silent");
    const info = vi.spyOn(log, "info");
    const holder = rig.holder(log);
    await holder.endOrAdoptLeftovers([a]);
    const told = expect.objectContaining({ model: "a", pid: only(await rig.running("a")) });
    expect(info).toHaveBeenCalledExactlyOnceWith(told, expect.stringContaining("is held on"));
    expect(await holder.found([a], never)).toEqual([a]);
    expect(await holder.isReady(a, never)).toBe(true);
    expect(await holder.load(a, null, never)).toMatchObject({ ok: true });
    expect(await rig.started("a")).toHaveLength(1);
    expect(await holder.unload(a, never)).toEqual({ ok: true, tail: "" });
    expect(await rig.anyRunning()).toEqual([]);
    expect(await notesIn(rig.notes)).toEqual([]);
    expect(holder.lost).toEqual([]);
  });

  it("leaves a command whose death the agent that adopted it notices", async () => {
    const rig = await commandRig();
    const a = await rig.model("a");
    const agent = otherAgent(rig.directory, a);
    await agent.said("loaded");
    await agent.kill();
    const holder = rig.holder();
    await holder.endOrAdoptLeftovers([a]);
    process.kill(only(await rig.running("a")), "SIGKILL");
    await until(() => holder.lost.length > 0);
    const reason = "node ended (how is not known: an earlier agent had started it): loading ";
    expect(holder.lost).toEqual([{ model: "a", reason: reason.trim() }]);
    expect(await notesIn(rig.notes)).toEqual([]);
  });

  it.each<[string, (model: ServedModel) => ServedModel[]]>([
    ["is not configured any more", () => []],
    ["has another command now", (a) => [{ ...a, heldBy: { kind: "command", command: "other" } }]],
    ["has another address now", (a) => [{ ...a, url: "http://127.0.0.1:1" }]],
    ["is held by the script now", (a) => [{ ...a, heldBy: { kind: "script" } }]],
  ])("leaves a command that is ended when its model %s", async (_what, change) => {
    const rig = await commandRig();
    const a = await rig.model("a");
    const agent = otherAgent(rig.directory, a);
    await agent.said("loaded");
    await agent.kill();
    const log = createLog("agent", "silent");
    const warn = vi.spyOn(log, "warn");
    const holder = rig.holder(log);
    await holder.endOrAdoptLeftovers(change(a));
    const told = expect.objectContaining({ model: "a" });
    expect(warn).toHaveBeenCalledExactlyOnceWith(told, expect.stringContaining("is ended"));
    expect(await holder.found([a], never)).toEqual([]);
    expect(await rig.anyRunning()).toEqual([]);
    expect(await notesIn(rig.notes)).toEqual([]);
  });

  it("as it ends a command leaves one that the next agent ends", async () => {
    const rig = await commandRig();
    const a = await rig.model("a", "stubborn", { stopGraceMs: 20_000 });
    const agent = otherAgent(rig.directory, a);
    await agent.said("loaded");
    agent.child.stdin?.write("unload\n");
    await agent.said("unloading");
    await agent.kill();
    const holder = rig.holder();
    await holder.endOrAdoptLeftovers([{ ...a, stopGraceMs: 200, url: "http://127.0.0.1:1" }]);
    expect(await rig.anyRunning()).toEqual([]);
  });

  it("leaves the rest of a group whose first process has died since, and that is ended too", async () => {
    const rig = await commandRig();
    const a = await rig.model("a", "child", { stopGraceMs: 200 });
    const agent = otherAgent(rig.directory, a);
    await agent.said("loaded");
    await agent.kill();
    process.kill(only(await rig.running("a")), "SIGKILL");
    await until(async () => (await rig.running("a")).length === 0);
    expect(await rig.running("child")).toHaveLength(1);
    await rig.holder().endOrAdoptLeftovers([a]);
    expect(await rig.anyRunning()).toEqual([]);
    expect(await notesIn(rig.notes)).toEqual([]);
  });
});

describe("a second agent beside one that lives", () => {
  it("leaves the first one's command alone, and cannot start it again", async () => {
    const rig = await commandRig();
    const a = await rig.model("a");
    const first = rig.holder();
    await first.load(a, null, never);
    const second = otherAgent(rig.directory, a);
    await second.said("found \n");
    await second.said(`failed something else answers at ${a.url}`);
    await second.kill();
    expect(await first.isReady(a, never)).toBe(true);
    expect(await rig.started("a")).toHaveLength(1);
    expect(first.lost).toEqual([]);
  });
});
