import { spawnSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { only, until } from "../support/conditions.ts";
import { handMadeEngine } from "../support/hand-made-engine.ts";
import { commandRig, isRunning, killAtOnce, listenFor, never } from "./rig.ts";

describe("a command", () => {
  it("is loaded once its own process is ready, and is the model's engine from then on", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "loading");
    expect(await holder.isReady(a, never)).toBe(false);
    const loading = holder.load(a, null, never);
    await until(async () => (await rig.running("a")).length === 1);
    expect(await holder.isReady(a, never)).toBe(false);
    await writeFile(join(rig.directory, "go"), "");
    expect(await loading).toEqual({ ok: true, tail: "loading loading" });
    expect(await holder.isReady(a, never)).toBe(true);
    expect(await holder.facts(a, never)).toEqual({ engine: "llama-server", contextLength: 4_096 });
    expect(await holder.found([a], never)).toEqual([]);
    expect(await readdir(rig.notes)).toHaveLength(1);
  });

  it("that runs and is ready is not started again", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a");
    const answers = await Promise.all([holder.load(a, null, never), holder.load(a, null, never)]);
    expect(answers.map(({ ok }) => ok)).toEqual([true, true]);
    expect(await holder.load(a, null, never)).toMatchObject({ ok: true });
    expect(await rig.started("a")).toHaveLength(1);
  });

  it("gets its words unparsed, and the agent's environment with its model and address", async () => {
    const rig = await commandRig();
    await writeFile(
      join(rig.directory, "tell.cjs"),
      `console.log(process.argv[2], Object.keys(process.env).sort().join());`,
    );
    const a = await rig.model("a", "", {
      heldBy: { kind: "command", command: `'${process.execPath}' tell.cjs '$HOME; exit 3'` },
    });
    const { tail } = await rig.holder().load(a, null, never);
    expect(tail).toMatch(/^\$HOME; exit 3 FARMGATE_MODEL,FARMGATE_RUN,FARMGATE_URL,(OLDPWD,)?PATH,PWD/);
  });

  it("that exits before it is ready fails at once, with its exit code and its last words", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const result = await holder.load(await rig.model("a", "exit=3"), null, never);
    expect(result).toEqual({
      ok: false,
      reason: "node ended with exit code 3 before it was ready",
      tail: "loading exit=3\nno memory",
    });
    expect(holder.lost).toEqual([]);
    expect(await readdir(rig.notes)).toEqual([]);
  });

  it("that cannot be run fails with the reason", async () => {
    const rig = await commandRig();
    const a = await rig.model("a", "", { heldBy: { kind: "command", command: "./missing --port 1" } });
    const reason = "missing cannot be run: no such file, or its interpreter is missing";
    expect(await rig.holder().load(a, null, never)).toEqual({ ok: false, reason, tail: "" });
  });

  it("that is not ready in time is ended, with what it had started, also what ignores SIGTERM", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "loading child", { timeoutMs: 1_500, stopGraceMs: 200 });
    const result = await holder.load(a, null, never);
    expect(result).toMatchObject({ ok: false });
    expect(result).toHaveProperty("reason", expect.stringContaining(`${a.url} was not ready within 1.5 s: /health `));
    expect(await rig.started("child")).toHaveLength(1);
    expect(await rig.anyRunning()).toEqual([]);
    expect(holder.lost).toEqual([]);
    await writeFile(join(rig.directory, "go"), "");
    expect(await holder.load({ ...a, timeoutMs: 20_000 }, null, never)).toMatchObject({ ok: true });
  });

  it("is not started where something else answers already", async () => {
    const rig = await commandRig();
    const foreign = await handMadeEngine(() => {});
    const holder = rig.holder();
    const a = await rig.model("a", "", { url: foreign.url });
    expect(await holder.load(a, null, never)).toEqual({
      ok: false,
      reason: `something else answers at ${foreign.url}: node was not started`,
      tail: "",
    });
    expect(await holder.isReady(a, never)).toBe(false);
    expect(await rig.started("a")).toEqual([]);
  });

  it("that has died before another answers in its place is a failed load, and no loss", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "mute");
    const loading = holder.load(a, null, never);
    await until(async () => (await rig.running("a")).length === 1);
    const pid = only(await rig.running("a"));
    await listenFor(a.url, () => {
      killAtOnce(pid);
      while (/^[^ZX]/.test(spawnSync("ps", ["-o", "state=", "-p", String(pid)], { encoding: "utf8" }).stdout.trim()));
    });
    expect(await loading).toMatchObject({ ok: false, reason: "node was ended by SIGKILL before it was ready" });
    await holder.unload(a, never);
    expect(holder.lost).toEqual([]);
  });

  it("that dies as it becomes ready is either a failed load or lost, and never both", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    for (let round = 0; round < 6; round += 1) {
      const a = await rig.model("a", "mute");
      const loading = holder.load(a, null, never);
      await until(async () => (await rig.running("a")).length === 1);
      const pid = only(await rig.running("a"));
      const close = await listenFor(a.url, () => killAtOnce(pid));
      const { ok } = await loading;
      if (ok) await until(() => holder.lost.length > 0);
      await holder.unload(a, never);
      expect(holder.lost.splice(0)).toHaveLength(ok ? 1 : 0);
      close();
    }
  });

  it("is ended when its load is no longer wanted", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "loading");
    const stop = new AbortController();
    const loading = holder.load(a, null, stop.signal);
    await until(async () => (await rig.running("a")).length === 1);
    stop.abort();
    expect(await loading).toMatchObject({ ok: false, reason: "node was stopped" });
    expect(await rig.anyRunning()).toEqual([]);
    expect(await holder.load(a, null, stop.signal)).toMatchObject({ ok: false, reason: "node was stopped" });
    expect(await rig.started("a")).toHaveLength(1);
  });

  it("starts with an empty log each time", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "once");
    for (let round = 0; round < 2; round += 1) {
      expect(await holder.load(a, null, never)).toMatchObject({ ok: true });
      expect(await holder.unload(a, never)).toMatchObject({ ok: true });
    }
    expect(await readFile(join(rig.directory, "command-a.log"), "utf8")).toBe("loading once\n");
    for (const pid of await rig.started("a")) expect(await isRunning(pid)).toBe(false);
  });
});
