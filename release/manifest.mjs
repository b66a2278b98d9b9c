import { lockedVersions } from "./locked.mjs";

const OURS = "@farmgate/";

/**
 * The package.json of the package: that of `cli`, with what all workspaces that are bundled into it depend on, as the
 * lock file has it. `workspaces`: their package.json by name. Throws where one names a range, two name different versions
 * of a package, or none names one that is `imported`.
 */
export function manifestOf(root, workspaces, lock, imported) {
  const cli = workspaces.get("farmgate");
  const bundled = bundledWith(cli, workspaces);
  const dependencies = namedBy(bundled, root.version);
  const missing = imported.filter((name) => !(name in dependencies));
  if (missing.length > 0) throw new Error(`imported, and no dependency of any workspace: ${missing.join(", ")}`);
  const { needed, optional } = lockedVersions(lock, Object.keys(dependencies));
  const { name, version, description, license, type, bin } = cli;
  return {
    name,
    version,
    description,
    license,
    type,
    engines: root.engines,
    bin,
    files: ["dist", "demo", "docs", "deploy", "docker-compose.yml", ".env.example", "CHANGELOG.md"],
    dependencies: needed,
    ...(Object.keys(optional).length > 0 && { optionalDependencies: optional }),
  };
}

function namedBy(bundled, whole) {
  const dependencies = {};
  for (const { name: workspace, version, dependencies: needed = {}, optionalDependencies = {} } of bundled) {
    if (version !== whole) throw new Error(`${workspace} is ${version}, and the whole is ${whole}`);
    for (const [name, wanted] of Object.entries({ ...needed, ...optionalDependencies })) {
      if (name.startsWith(OURS)) continue;
      if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(wanted))
        throw new Error(`${workspace} wants ${name} ${wanted}: no version`);
      if ((dependencies[name] ?? wanted) !== wanted) {
        throw new Error(`${workspace} wants ${name} ${wanted}, and another workspace ${dependencies[name]}`);
      }
      dependencies[name] = wanted;
    }
  }
  return dependencies;
}

/** The workspace and all of ours that it depends on. */
function bundledWith(workspace, workspaces) {
  const found = new Set([workspace]);
  for (const { dependencies = {} } of found) {
    for (const name of Object.keys(dependencies)) if (name.startsWith(OURS)) found.add(workspaces.get(name));
  }
  return [...found];
}
