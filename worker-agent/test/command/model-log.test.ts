import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { linesOf, readModelLog } from "../../src/serve/model-log.ts";
import { startRig, tempDirectory } from "../support/agent-rig.ts";
import { commandRig, never } from "./rig.ts";

const script = { name: "a", heldBy: { kind: "script" } } as const;

describe("the log of a model", () => {
  it("is what its command wrote", async () => {
    const rig = await commandRig();
    const holder = rig.holder();
    const a = await rig.model("a", "says this");
    expect(await readModelLog(rig.directory, a, 10)).toBe("");
    await holder.load(a, null, never);
    expect(await readModelLog(rig.directory, a, 10)).toBe("loading says this\n");
  });

  it("has no more lines than were asked for, and no more than a megabyte of whole lines", async () => {
    const directory = await tempDirectory();
    const lines = Array.from({ length: 60_000 }, (_, i) => `line ${i} ${"é".repeat(20)}`);
    await writeFile(join(directory, "swap-a.log"), `${lines.join("\n")}\n`);
    expect((await readModelLog(directory, script, 3)).match(/line \d+/g)).toEqual([
      "line 59997",
      "line 59998",
      "line 59999",
    ]);
    const most = await readModelLog(directory, script, 1_000_000);
    expect(Buffer.byteLength(most)).toBeLessThanOrEqual(1_024 ** 2);
    expect(Buffer.byteLength(most)).toBeGreaterThan(1_000_000);
    expect(most).toMatch(/^line \d+ é{20}\n/);
  });

  it("keeps newlines and tabs of all control characters", async () => {
    const directory = await tempDirectory();
    await writeFile(
      join(directory, "swap-a.log"),
      "\u001b[2J\u001b[31mred\u001b[0m\u0007\tx\r\n\u0000\u009b1my\u007f\n\u001b]0;title\u0007\u202eback\u2066wards\n",
    );
    expect(await readModelLog(directory, script, 10)).toBe("red\tx\n1my\nbackwards\n");
  });

  it("is not here for a model of an attached engine", async () => {
    const engine = { name: "a", heldBy: { kind: "engine", url: "http://127.0.0.1:1" } } as const;
    await expect(readModelLog("/nowhere", engine, 1)).rejects.toThrow("http://127.0.0.1:1");
  });

  it.each(["0", "-1", "1.5", "10001", "", "many", ["1", "2"], "99999999999"])("is refused for %j lines", (lines) => {
    expect(() => linesOf(lines)).toThrow("from 1 to 10000");
  });

  it("has 200 lines unless others are asked for", () => {
    expect([linesOf(undefined), linesOf("1"), linesOf("10000")]).toEqual([200, 1, 10_000]);
  });
});

describe("GET /models/{id}/log", () => {
  const keys = [
    { name: "admin", key: "k-admin", admin: true },
    { name: "bob", key: "k-bob" },
  ];
  const as = (key: string) => ({ headers: { authorization: `Bearer k-${key}` } });

  it("gives an admin the output of the swap script as plain text", async () => {
    const models = [{ name: "org/a", url: "http://127.0.0.1:1", aliases: ["a"], timeout: "5s" }];
    const rig = await startRig({ script: "#!/bin/sh\necho one\necho two\nexit 1\n", config: { keys, models } });
    const log = (path: string, key = "admin") => fetch(`${rig.agent.url}/models/${path}`, as(key));
    expect(await (await log("a/log")).text()).toBe("");
    expect((await rig.chat("a", "Hi", as("bob"))).status).toBe(503);
    for (const id of ["org/a", "org%2Fa", "a"]) {
      const answer = await log(`${id}/log`);
      expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
      expect(await answer.text()).toBe("one\ntwo\n");
    }
    expect(await (await log("a/log?lines=1")).text()).toBe("two\n");
    expect((await log("a/log?lines=0")).status).toBe(400);
    expect((await log("b/log")).status).toBe(404);
    expect((await log("a")).status).toBe(404);
    expect((await log("a/log", "bob")).status).toBe(403);
    expect((await fetch(`${rig.agent.url}/models/a/log`)).status).toBe(401);
    const posted = await fetch(`${rig.agent.url}/models/a/log`, { method: "POST", ...as("admin") });
    expect([posted.status, posted.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
  });
});
