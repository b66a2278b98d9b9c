// node release/set-version.mjs VERSION: writes it into every package.json, what names one of ours too, and the lock file.
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const version = process.argv[2] ?? "";
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
  throw new Error("usage: node release/set-version.mjs VERSION, as 0.2.0");

const { workspaces } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
for (const folder of [".", ...workspaces]) {
  const file = join(ROOT, folder, "package.json");
  const text = await readFile(file, "utf8");
  const own = text.replace(/^( {2}"version": )"[^"]*"/m, `$1"${version}"`);
  await writeFile(file, own.replace(/("@farmgate\/[\w-]+": )"[^"]*"/g, `$1"${version}"`));
}
execFileSync("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit"], {
  cwd: ROOT,
  stdio: "inherit",
});
