// Makes farmgate-VERSION.tgz, which `npm install` takes, in release/dist or the folder that is named.
import { execFileSync } from "node:child_process";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.mjs";
import { manifestOf } from "./manifest.mjs";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const OUT = resolve(process.argv[2] ?? join(ROOT, "release/dist"));
const PACKAGE = join(OUT, "package");

const json = async (file) => JSON.parse(await readFile(join(ROOT, file), "utf8"));

const root = await json("package.json");
const manifests = await Promise.all(root.workspaces.map((folder) => json(`${folder}/package.json`)));
const workspaces = new Map(manifests.map((manifest) => [manifest.name, manifest]));

await rm(PACKAGE, { recursive: true, force: true });
await mkdir(PACKAGE, { recursive: true });
const lock = await json("package-lock.json");
const manifest = manifestOf(root, workspaces, lock, await bundle(join(PACKAGE, "dist")));
const changes = await readFile(join(ROOT, "CHANGELOG.md"), "utf8");
if (!changes.includes(`\n## [${manifest.version}]`))
  throw new Error(`CHANGELOG.md says nothing of ${manifest.version}`);
await writeFile(join(PACKAGE, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
await cp(join(ROOT, "cli/README.md"), join(PACKAGE, "README.md"));
for (const one of ["LICENSE", "CHANGELOG.md", "docs", "deploy", "docker-compose.yml", ".env.example"]) {
  await cp(join(ROOT, one), join(PACKAGE, one), { recursive: true, filter: (path) => !path.endsWith(".test.yml") });
}
await rm(join(PACKAGE, "docs/releasing.md"), { force: true });
await cp(join(ROOT, "cli/demo"), join(PACKAGE, "demo"), { recursive: true });
execFileSync("npm", ["pack", "--silent", "--pack-destination", OUT], { cwd: PACKAGE, stdio: "inherit" });
