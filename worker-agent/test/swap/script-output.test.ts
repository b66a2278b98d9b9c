import { chmod, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { fileName, keepOutputSmall, openOutput, outputDirectory, trimOutput } from "../../src/swap/script-output.ts";
import { tempDirectory } from "../support/agent-rig.ts";
import { until } from "../support/conditions.ts";
import { HandClock } from "../support/hand-clock.ts";

describe("the output files of the scripts", () => {
  it("lie beside the configuration", async () => {
    const directory = await tempDirectory();
    expect(await outputDirectory(directory, "gpu-box")).toBe(join(directory, ".farmgate", "gpu-box"));
  });

  it("lie among the temporary files where the configuration's folder cannot hold them", async () => {
    const directory = await tempDirectory();
    const file = join(directory, "file");
    await writeFile(file, "");
    const found = await outputDirectory(file, "gpu-box");
    onTestFinished(() => rm(found, { recursive: true }));
    expect(found.startsWith(join(tmpdir(), "farmgate-"))).toBe(true);
    expect(await outputDirectory(file, "gpu-box")).toBe(found);
  });

  it("never lie in a folder there that others can write to", async () => {
    const directory = await tempDirectory();
    const file = join(directory, "file");
    await writeFile(file, "");
    const first = await outputDirectory(file, "gpu-box");
    onTestFinished(() => rm(first, { recursive: true }));
    await chmod(first, 0o777);
    const second = await outputDirectory(file, "gpu-box");
    onTestFinished(() => rm(second, { recursive: true }));
    expect(second).not.toBe(first);
  });

  it.each(["a/b", "../../etc/passwd", "..", "a b", "ä", ".hidden"])("never leave their folder: %s", (name) => {
    expect(fileName(name)).toMatch(/^[A-Za-z0-9_-][A-Za-z0-9._-]*-[0-9a-f]{8}$/);
  });

  it("keep plain names, and keep apart those that had to be changed", () => {
    expect(fileName("qwen3-4b.Q4_K_M")).toBe("qwen3-4b.Q4_K_M");
    expect(fileName("a/b")).not.toBe(fileName("a:b"));
  });

  it("are cut down to their last lines when they have grown large, while an engine still writes", async () => {
    const file = join(await tempDirectory(), "swap-a.log");
    const engine = await openOutput(file);
    onTestFinished(() => engine.close());
    for (let i = 0; i < 1_000; i += 1) await engine.write(`line ${i}\n`);
    await trimOutput(file, { most: 10_000, kept: 100 });
    expect(await readFile(file, "utf8")).toContain("line 0\n");
    await trimOutput(file, { most: 5_000, kept: 100 });
    await engine.write("and on\n");
    expect(await readFile(file, "utf8")).toMatch(/^(line 9\d\d\n){9,11}line 999\nand on\n$/);
  });

  it("are looked at every few seconds, until that is called off", async () => {
    const directory = await tempDirectory();
    const file = join(directory, "swap-a.log");
    const clock = new HandClock();
    const stop = keepOutputSmall(directory, clock);
    for (let round = 0; round < 2; round += 1) {
      await writeFile(file, Buffer.alloc(17 * 1_024 ** 2, "line\n"));
      expect(clock.pending).toHaveLength(1);
      clock.move(5_000);
      await until(async () => (await stat(file)).size < 1_024 ** 2 && clock.pending.length === 1);
    }
    stop();
    expect(clock.pending).toEqual([]);
  });
});
