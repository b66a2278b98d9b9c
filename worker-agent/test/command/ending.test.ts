import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { only, until } from "../support/conditions.ts";
import { commandRig, listenFor, never } from "./rig.ts";

describe("an unloaded command", () => {
  it("is gone with its whole group when the unload is done, also a child that ignores SIGTERM", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "child", { stopGraceMs: 300 });
    await holder.load(a, null, never);
    expect(await rig.anyRunning()).toHaveLength(2);
    expect(await holder.unload(a, never)).toEqual({ ok: true, tail: "" });
    expect(await rig.anyRunning()).toEqual([]);
    expect(await holder.isReady(a, never)).toBe(false);
    expect(await readdir(rig.notes)).toEqual([]);
    expect(await holder.unload(a, never)).toEqual({ ok: true, tail: "" });
    expect(holder.lost).toEqual([]);
  });

  it.runIf(process.platform === "linux")("takes along what has left its group", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const [a, b] = [await rig.model("a", "child away", { stopGraceMs: 200 }), await rig.model("b")];
    await holder.load(a, null, never);
    await holder.load(b, null, never);
    expect(await rig.anyRunning()).toHaveLength(3);
    expect(await holder.unload(a, never)).toEqual({ ok: true, tail: "" });
    expect(await rig.anyRunning()).toEqual(await rig.running("b"));
    expect(await readdir(rig.notes)).toHaveLength(1);
  });

  it.runIf(process.platform === "linux")("by its own end leaves nothing behind that has left its group", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "child away", { stopGraceMs: 200 });
    await holder.load(a, null, never);
    process.kill(only(await rig.running("a")), "SIGKILL");
    await until(() => holder.lost.length === 1);
    expect(await rig.anyRunning()).toEqual([]);
  });

  it("has its grace, and is not killed before", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "stubborn", { stopGraceMs: 700 });
    await holder.load(a, null, never);
    const startedAt = performance.now();
    await holder.unload(a, never);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(690);
    expect(await rig.anyRunning()).toEqual([]);
  });

  it("is unloaded only when its port is closed", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "mute");
    const loading = holder.load(a, null, never);
    await until(async () => (await rig.running("a")).length === 1);
    const close = await listenFor(a.url);
    expect(await loading).toMatchObject({ ok: true });
    let unloaded = false;
    const unloading = holder.unload(a, never).then((result) => {
      unloaded = true;
      return result;
    });
    await until(async () => (await rig.anyRunning()).length === 0 && (await readdir(rig.notes)).length === 0);
    expect(unloaded).toBe(false);
    close();
    expect(await unloading).toEqual({ ok: true, tail: "" });
  });

  it("whose port stays open is a failure that says so", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "mute");
    const loading = holder.load(a, null, never);
    await until(async () => (await rig.running("a")).length === 1);
    await listenFor(a.url);
    await loading;
    const reason = `node has ended, but something still answers at ${a.url}`;
    expect(await holder.unload(a, never)).toEqual({ ok: false, reason, tail: "" });
    expect(await holder.isReady(a, never)).toBe(false);
  });

  it("that was still loading is ended, and its load fails", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "loading");
    const loading = holder.load(a, null, never);
    await until(async () => (await rig.running("a")).length === 1);
    const unloading = holder.unload(a, never);
    expect(await loading).toMatchObject({ ok: false, reason: "node was stopped" });
    expect(await unloading).toMatchObject({ ok: true });
    expect(await rig.anyRunning()).toEqual([]);
  });
});

describe("a command that dies", () => {
  it("is told of once, with how it ended and its last words", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "last words");
    await holder.load(a, null, never);
    process.kill(only(await rig.running("a")), "SIGKILL");
    await until(() => holder.lost.length > 0);
    expect(await holder.isReady(a, never)).toBe(false);
    await holder.unload(a, never);
    const reason = "node was ended by SIGKILL: loading last words";
    expect(holder.lost).toEqual([{ model: "a", reason }]);
    expect(await holder.load(a, null, never)).toMatchObject({ ok: true });
    expect(holder.lost).toHaveLength(1);
  });

  it("is told of when what it leaves behind is ended too, and is loaded again only then", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "child", { stopGraceMs: 500 });
    await holder.load(a, null, never);
    const child = only(await rig.running("child"));
    process.kill(only(await rig.running("a")), "SIGKILL");
    await until(() => holder.lost.length > 0);
    expect(await rig.running("child")).not.toContain(child);
    expect(await holder.load(a, null, never)).toMatchObject({ ok: true });
    expect(await rig.clashes()).toBe("");
  });

  it("is started anew by a load that comes before the word of its end, and is no loss then", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a");
    await holder.load(a, null, never);
    const pid = only(await rig.running("a"));
    process.kill(pid, "SIGKILL");
    // Waited for without a turn of the event loop, by which the word would come.
    while (!/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8")));
    expect(await holder.load(a, null, never)).toMatchObject({ ok: true });
    expect(await rig.running("a")).not.toContain(pid);
    expect(holder.lost).toEqual([]);
    expect(await rig.clashes()).toBe("");
  });

  it("as it is being unloaded is no loss", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "stubborn");
    await holder.load(a, null, never);
    const unloading = holder.unload(a, never);
    process.kill(only(await rig.running("a")), "SIGKILL");
    expect(await unloading).toMatchObject({ ok: true });
    expect(holder.lost).toEqual([]);
  });
});

describe("a holder that is closed", () => {
  it("ends all its commands at once, also those that are loading, and loads nothing any more", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const [a, b] = await Promise.all([
      rig.model("a", "stubborn", { stopGraceMs: 1_000 }),
      rig.model("b", "stubborn loading", { stopGraceMs: 1_000 }),
    ]);
    await holder.load(a, null, never);
    const loading = holder.load(b, null, never);
    await until(async () => (await rig.running("b")).length === 1);
    const startedAt = performance.now();
    await holder.close();
    expect(performance.now() - startedAt).toBeLessThan(1_900);
    expect(await rig.anyRunning()).toEqual([]);
    expect(await loading).toMatchObject({ ok: false, reason: "node was stopped" });
    expect(await holder.load(a, null, never)).toMatchObject({ ok: false, reason: "node was stopped" });
    expect(holder.lost).toEqual([]);
    expect(await readdir(rig.notes)).toEqual([]);
  });
});
