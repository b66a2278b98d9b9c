import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const README = new URL("README.md", import.meta.url);

/** Every link of the tables to a file of tests, with the names that are quoted after it. */
async function claims(): Promise<{ file: URL; names: string[] }[]> {
  const rows = (await readFile(README, "utf8")).split("\n").filter((line) => line.startsWith("| "));
  return rows.flatMap((row) => {
    // The third cell: what stands in the others may quote anything.
    const cell = row.split(/(?<!\\)\|/)[3] ?? "";
    return [...cell.matchAll(/\]\(([^)]+\.ts)\)([^[]*)/g)].map(([, path = "", after = ""]) => ({
      file: new URL(path, README),
      names: [...after.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name),
    }));
  });
}

describe("the tables of field cases", () => {
  it("name tests that are there", async () => {
    const all = await claims();
    expect(all.length).toBeGreaterThan(50);
    const missing: string[] = [];
    for (const { file, names } of all) {
      const text = await readFile(file, "utf8").catch(() => null);
      if (text === null) missing.push(fileURLToPath(file));
      else
        missing.push(...names.filter((name) => !text.includes(name)).map((name) => `${fileURLToPath(file)}: ${name}`));
    }
    expect(missing).toEqual([]);
  });
});
