/**
 * All packages that those of `names` need, at any depth, at the versions of a lock file (its version 3): `needed`, and
 * `optional` for those that only some machines can have. Named one by one in package.json they are installed at these
 * very versions, where ranges would be read anew: npm takes no lock file from a package. Of those that the lock file has
 * twice only the one is named that most share. Throws where a name is not locked.
 */
export function lockedVersions(lock, names) {
  const part = new Map();
  const take = (from, name, isNeeded) => {
    const at = placesFrom(from, name).find((place) => place in lock.packages);
    if (at === undefined) {
      if (isNeeded) throw new Error(`${name}, which ${from || "the program"} needs, is not in the lock file`);
      return;
    }
    if (part.has(at)) return;
    const entry = lock.packages[at];
    part.set(at, entry);
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = entry;
    for (const one of Object.keys(dependencies)) take(at, one, true);
    for (const one of Object.keys(optionalDependencies)) take(at, one, false);
    for (const one of Object.keys(peerDependencies)) take(at, one, peerDependenciesMeta[one]?.optional !== true);
  };
  for (const name of names) take("", name, true);
  const versions = (isOptional) =>
    Object.fromEntries(
      [...part]
        .filter(([at, { optional = false }]) => at.lastIndexOf("node_modules/") === 0 && optional === isOptional)
        .map(([at, { version }]) => [at.slice("node_modules/".length), version])
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  return { needed: versions(false), optional: versions(true) };
}

/** Where a package may be that the one at `from` asks for, nearest first. */
function placesFrom(from, name) {
  const places = [];
  for (let at = from; at !== ""; at = at.slice(0, Math.max(at.lastIndexOf("/node_modules/"), 0))) {
    places.push(`${at}/node_modules/${name}`);
  }
  return [...places, `node_modules/${name}`];
}
