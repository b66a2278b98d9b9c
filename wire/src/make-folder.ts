import { mkdir, stat } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * Makes a folder and those above it where they are missing; rejects with the system's `code` where that cannot be. Node's
 * own `recursive` never ends where the system takes no new folder and says that there is none (`/proc`).
 */
export async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && dirname(folder) !== folder && (await isMissing(dirname(folder)))) {
      await makeFolder(dirname(folder));
      await makeFolder(folder);
    } else if (!(await isFolder(folder))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}

async function isMissing(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) === null;
}
