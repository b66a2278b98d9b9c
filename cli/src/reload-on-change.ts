import { statSync, unwatchFile, watchFile } from "node:fs";
import { resolve } from "node:path";
import type { Clock } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";

const POLL_MS = 1_000;
/** A file that was changed within this many milliseconds may still be written: half of it can be good YAML. */
const SETTLE_MS = 500;

export interface ReloadOptions<T> {
  file: string;
  /** The file's state from before it was read for the first time. */
  known: string;
  /** Reads and checks the file; rejects with every problem. */
  read: () => Promise<T>;
  reload: (config: T) => { applied: boolean; restartNeeded: readonly string[] };
  clock: Clock;
  log: Log;
}

interface Watching {
  /** Reads it now, changed or not. */
  look(): void;
  stop(): void;
}

/** What changes with a file's text, its rights, or what a link leads to, but not by reading it; empty: not there. */
export function fileState(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file);
    return [ino, size, mtimeMs, ctimeMs].join();
  } catch {
    return "";
  }
}

/**
 * Applies the file whenever it has changed and is not being written any more, and keeps what runs when the new text is
 * not usable. The file's state is polled, because an editor that writes a new file in the old one's place ends every
 * watch on the old one, and so does whoever changes a link on the way to it.
 */
export function reloadOnChange<T>(options: ReloadOptions<T>): Watching {
  const { file, read, reload, clock, log } = options;
  const path = resolve(file);
  let { known } = options;
  let turn = Promise.resolve();
  let stopped = false;

  const settled = async (): Promise<string> => {
    for (let before = fileState(path); ; ) {
      await new Promise<void>((wake) => clock.after(SETTLE_MS, wake));
      const now = fileState(path);
      if (now === before) return now;
      before = now;
    }
  };
  const apply = async () => {
    try {
      const { applied, restartNeeded } = reload(await read());
      // What was applied, the program itself logs.
      if (!applied && restartNeeded.length === 0) log.info({ file }, "the file sets nothing new");
      if (restartNeeded.length > 0) {
        log.warn({ file, keys: restartNeeded }, `a restart is needed for: ${restartNeeded.join(", ")}`);
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error({ file, reason }, "the changed configuration is refused; the old one stays in use");
    }
  };
  const look = async (asked: boolean) => {
    if (fileState(path) === known && !asked) return;
    const state = await settled();
    if (stopped || (state === known && !asked)) return;
    known = state;
    // It may come back, as when an editor saves.
    if (state === "") log.warn({ file }, "the configuration file is not there any more; what it said stays in use");
    else await apply();
    // Read while it was changed: once more.
    if (fileState(path) !== known) await look(false);
  };
  const changed = () => void (turn = turn.then(() => look(false)));
  watchFile(path, { interval: POLL_MS, persistent: false }, changed);
  changed();
  return {
    look: () => void (turn = turn.then(() => look(true))),
    stop() {
      stopped = true;
      unwatchFile(path, changed);
    },
  };
}
