import { unwatchFile, watchFile } from "node:fs";
import { resolve } from "node:path";
import type { Log } from "@farmgate/wire";

const POLL_MS = 1_000;

export interface ReloadOptions<T> {
  file: string;
  /** Reads and checks the file; rejects with every problem. */
  read: () => Promise<T>;
  reload: (config: T) => { applied: boolean; restartNeeded: readonly string[] };
  log: Log;
}

/**
 * Applies the file whenever it has changed, and keeps what runs when the new text is not usable. The file's state is
 * polled, because an editor that writes a new file in the old one's place ends every watch on the old one.
 * Returns what ends the watching.
 */
export function reloadOnChange<T>({ file, read, reload, log }: ReloadOptions<T>): () => void {
  const path = resolve(file);
  let turn = Promise.resolve();
  const apply = async () => {
    try {
      const { applied, restartNeeded } = reload(await read());
      // What was applied, the program itself logs.
      if (!applied && restartNeeded.length === 0) log.info({ file }, "the file has changed, but nothing that it sets");
      if (restartNeeded.length > 0) {
        log.warn({ file, keys: restartNeeded }, `a restart is needed for: ${restartNeeded.join(", ")}`);
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error({ file, reason }, "the changed configuration is refused; the old one stays in use");
    }
  };
  const changed = (now: { mtimeMs: number; size: number }, before: { mtimeMs: number; size: number }) => {
    // Only the access time moved.
    if (now.mtimeMs === before.mtimeMs && now.size === before.size) return;
    // A file that is not there has the time 0. It may come back, as when an editor saves.
    if (now.mtimeMs === 0) {
      log.warn({ file }, "the configuration file is not there any more; what it said stays in use");
      return;
    }
    turn = turn.then(apply);
  };
  watchFile(path, { interval: POLL_MS, persistent: false }, changed);
  return () => unwatchFile(path, changed);
}
