export interface HeaderWithParameters {
  /** In lower case. */
  value: string;
  /** By their names in lower case. */
  parameters: ReadonlyMap<string, string>;
}

const PARAMETER = /\s*;\s*(?:([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;"]*)))?\s*/y;

/**
 * Reads `form-data; name="a"` and the like: values quoted (with `\"` and `\\` as escapes; other backslashes are
 * letters, as in a path of Windows) or bare. null: it has another form, or a parameter twice, which readers would
 * take in different ways.
 */
export function readParameters(header: string): HeaderWithParameters | null {
  const semicolon = header.indexOf(";");
  const parameters = new Map<string, string>();
  let at = semicolon < 0 ? header.length : semicolon;
  const value = header.slice(0, at).trim().toLowerCase();
  while (at < header.length) {
    PARAMETER.lastIndex = at;
    const found = PARAMETER.exec(header);
    if (found === null) return null;
    at = PARAMETER.lastIndex;
    const [, name, quoted, bare = ""] = found;
    if (name === undefined) continue;
    const key = name.toLowerCase();
    if (parameters.has(key)) return null;
    parameters.set(key, quoted === undefined ? bare.trim() : quoted.replace(/\\(["\\])/g, "$1"));
  }
  return { value, parameters };
}
