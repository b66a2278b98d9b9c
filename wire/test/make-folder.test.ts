import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makeFolder } from "../src/index.ts";

async function temporary(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "farmgate-folder-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

it("makes a folder and those above it, also when two do so at once", async () => {
  const folder = join(await temporary(), "a", "b", "c");
  await Promise.all([makeFolder(folder), makeFolder(folder)]);
  await makeFolder(folder);
  expect((await stat(folder)).isDirectory()).toBe(true);
});

it("ends with the system's code where a file is in the way", async () => {
  const file = join(await temporary(), "file");
  await writeFile(file, "");
  await expect(makeFolder(file)).rejects.toMatchObject({ code: "EEXIST" });
  await expect(makeFolder(join(file, "below"))).rejects.toMatchObject({ code: "ENOTDIR" });
});

it.runIf(process.platform === "linux")("ends where the system takes no folder", async () => {
  await expect(makeFolder("/proc/farmgate/a")).rejects.toMatchObject({ code: "ENOENT" });
});
