import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { type Report, writeReports } from "@farmgate/simulator/virtual";
import { makeFolder } from "@farmgate/wire";
import { usageError } from "../exit-code.ts";

/** Makes the folder of `--out` before the work begins. Throws a CommandError where nothing can be written there. */
export async function makeOut(folder: string): Promise<void> {
  try {
    await makeFolder(folder);
    await access(folder, constants.W_OK);
  } catch (error) {
    throw noPlace(folder, error);
  }
}

/** Writes the reports into it; throws as `makeOut` does. Resolves with the files' names. */
export async function writeOut(folder: string, reports: readonly Report[]): Promise<string[]> {
  try {
    return await writeReports(folder, reports);
  } catch (error) {
    throw noPlace(folder, error);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: "it may not be written to",
  EPERM: "it may not be written to",
  EROFS: "it may not be written to",
  EEXIST: "there is a file of that name",
  ENOTDIR: "a file is in its way",
  EISDIR: "a folder has the name of a report",
  ENOSPC: "the disk is full",
};

function noPlace(folder: string, error: unknown) {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return usageError(`nothing can be written to ${folder}: ${REASONS[code] ?? message}`);
}
