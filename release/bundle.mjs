// The program as it runs and is packed: the sources of all workspaces in a few files of cli/dist, so that a command
// loads what it needs and nothing else, and Node looks for few files. What others wrote stays outside, to be installed.
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const MAIN = join(ROOT, "cli/src/main.ts");

/** A path relative to a source leads elsewhere from the file that the source is in by then. */
const noOwnPaths = {
  name: "no-own-paths",
  transform(code, id) {
    if (!id.startsWith(ROOT) || id === MAIN || !/import\.meta\.(url|dirname|filename)/.test(code)) return null;
    throw new Error(`${id}: import.meta leads nowhere once this is bundled; take the path from cli/src/main.ts`);
  },
};

/** Bundles the program into `folder`; resolves with the names of the packages that it imports. */
export async function bundle(folder) {
  const { output } = await build({
    cwd: ROOT,
    input: MAIN,
    platform: "node",
    external: (id) => /^[^./]/.test(id) && !id.startsWith("@farmgate/"),
    resolve: { conditionNames: ["@farmgate/source"] },
    // No module of ours does anything but by what it exports.
    treeshake: { moduleSideEffects: false },
    plugins: [noOwnPaths],
    output: { format: "esm", chunkFileNames: "[name]-[hash].js" },
    write: false,
  });
  await mkdir(folder, { recursive: true });
  // Unchanged files stay, and old ones go last: a program that runs may not have loaded all of its own yet.
  for (const { fileName, code } of output) {
    const file = join(folder, fileName);
    if ((await readFile(file, "utf8").catch(() => null)) !== code) await writeFile(file, code);
  }
  const written = new Set(output.map(({ fileName }) => fileName));
  for (const file of await readdir(folder)) {
    if (!written.has(file)) await rm(join(folder, file), { recursive: true });
  }
  const imported = output.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
  const packages = imported.filter((id) => !written.has(id) && !id.startsWith("node:"));
  return [...new Set(packages.map((id) => /^(@[^/]+\/)?[^/]+/.exec(id)[0]))].sort();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle(join(ROOT, "cli/dist"));
