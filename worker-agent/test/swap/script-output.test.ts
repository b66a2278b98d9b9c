import { rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { fileName, outputDirectory } from "../../src/swap/script-output.ts";
import { tempDirectory } from "../support/agent-rig.ts";

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
  });

  it.each(["a/b", "../../etc/passwd", "..", "a b", "ä", ".hidden"])("never leave their folder: %s", (name) => {
    expect(fileName(name)).toMatch(/^[A-Za-z0-9_-][A-Za-z0-9._-]*-[0-9a-f]{8}$/);
  });

  it("keep plain names, and keep apart those that had to be changed", () => {
    expect(fileName("qwen3-4b.Q4_K_M")).toBe("qwen3-4b.Q4_K_M");
    expect(fileName("a/b")).not.toBe(fileName("a:b"));
  });
});
