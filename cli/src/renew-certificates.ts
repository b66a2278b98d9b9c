import { unwatchFile, watchFile } from "node:fs";
import { ConfigError } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";

const POLL_MS = 1_000;

export interface RenewOptions {
  /** Absolute. */
  files: Iterable<string>;
  /** Reads and checks them, and puts them in use; rejects with what is wrong. */
  take: () => Promise<void>;
  log: Log;
}

/**
 * Takes certificates and keys anew whenever one of their files has changed. Between the two of a renewal they do not go
 * together: then the old ones stay, and the next change is looked at again. Returns what ends it.
 */
export function renewOnChange({ files, take, log }: RenewOptions): () => void {
  const paths = new Set(files);
  let turn = Promise.resolve();
  const apply = (file: string) =>
    take().then(
      () => log.info({ file }, "the renewed certificate is in use"),
      (error: unknown) => {
        const reason = error instanceof ConfigError ? error.message : String((error as NodeJS.ErrnoException).code);
        log.warn({ file, reason }, "the changed certificate cannot be used yet; the old one stays in use");
      },
    );
  const watched = [...paths].map((path) => {
    const changed = (now: { mtimeMs: number; ino: number }, before: { mtimeMs: number; ino: number }) => {
      // Only the access time moved, or it is not there, as when a new one is about to take its place.
      if ((now.mtimeMs === before.mtimeMs && now.ino === before.ino) || now.mtimeMs === 0) return;
      turn = turn.then(() => apply(path));
    };
    watchFile(path, { interval: POLL_MS, persistent: false }, changed);
    return () => unwatchFile(path, changed);
  });
  return () => {
    for (const unwatch of watched) unwatch();
  };
}
