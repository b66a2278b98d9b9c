import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ConfigError } from "./config-error.ts";
import { type ConfigDocument, type Environment, readDocument } from "./parse.ts";

export interface LoadedFile {
  /** Absolute. */
  file: string;
  /** Absolute; paths inside the file are relative to it. */
  directory: string;
  document: ConfigDocument;
}

const UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  ENOTDIR: "no such file",
  EISDIR: "it is a folder",
  EACCES: "this user may not read it",
};

/** Why a file cannot be read, in words. */
export function whyUnreadable(error: unknown): string {
  const { code = "" } = error as NodeJS.ErrnoException;
  return UNREADABLE[code] ?? String(error);
}

/** Reads a configuration file. A file that cannot be read is a ConfigError like any other problem. */
export async function loadConfigFile(file: string, env: Environment): Promise<LoadedFile> {
  const absolute = resolve(file);
  let text: string;
  try {
    text = await readFile(absolute, "utf8");
  } catch (error) {
    const message = `cannot be read: ${whyUnreadable(error)}`;
    throw new ConfigError(file, [{ path: "", line: null, message }]);
  }
  return { file: absolute, directory: dirname(absolute), document: readDocument(text, env) };
}
