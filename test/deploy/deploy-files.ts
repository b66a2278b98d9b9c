import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse, parseAllDocuments } from "yaml";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A file by its path from the root of the repository. */
export const textOf = (path: string) => readFileSync(ROOT + path, "utf8");
export const isThere = (path: string) => existsSync(ROOT + path);
export const pathOf = (path: string) => ROOT + path;
export const filesIn = (folder: string) => readdirSync(ROOT + folder).map((name) => `${folder}/${name}`);

/** A YAML file, with `<<` as Compose has it. */
export const yamlOf = (path: string): unknown => parse(textOf(path), { merge: true });

/** All documents of a YAML file; throws where one is no YAML. */
export function documentsOf(text: string): unknown[] {
  return parseAllDocuments(text).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    return document.toJS() as unknown;
  });
}

/** The environment variables that a configuration of Farmgate has as `${NAME}`. */
export function variablesIn(path: string): string[] {
  const text = textOf(path).replaceAll(/^\s*#.*$/gm, "");
  return [...new Set([...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = ""]) => name))].toSorted();
}
