/**
 * The models that the output of `COMMAND status` calls loaded, in lower case: those of lines `MODEL: loaded`, with
 * blanks wherever one may write them. Every other line says nothing.
 */
export function loadedNames(output: string): ReadonlySet<string> {
  const names = new Set<string>();
  for (const line of output.split("\n")) {
    const colon = line.lastIndexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    if (
      name !== "" &&
      line
        .slice(colon + 1)
        .trim()
        .toLowerCase() === "loaded"
    )
      names.add(name);
  }
  return names;
}
