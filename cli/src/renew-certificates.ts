import { type Stats, unwatchFile, watchFile } from "node:fs";
import { ConfigError } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";

const POLL_MS = 1_000;

export interface RenewOptions {
  /** Reads and checks them, and puts them in use; rejects with what is wrong. */
  take: () => Promise<void>;
  log: Log;
}

interface Renewing {
  /** Watches these as well, by absolute paths. One that is watched stays so, and no change of it is missed. */
  watch(files: Iterable<string>): void;
  stop(): void;
}

/**
 * Takes certificates and keys anew whenever one of their files has changed. Between the two of a renewal they do not go
 * together: then the old ones stay, and the next change is looked at again.
 */
export function renewOnChange({ take, log }: RenewOptions): Renewing {
  const watched = new Map<string, (now: Stats, before: Stats) => void>();
  let turn = Promise.resolve();
  const apply = (file: string) =>
    take().then(
      () => log.info({ file }, "the renewed certificate is in use"),
      (error: unknown) => {
        const reason = error instanceof ConfigError ? error.message : String((error as NodeJS.ErrnoException).code);
        log.warn({ file, reason }, "the changed certificate cannot be used yet; the old one stays in use");
      },
    );
  return {
    watch(files) {
      for (const file of files) {
        if (watched.has(file)) continue;
        const changed = (now: Stats, before: Stats) => {
          // Only the access time moved, or it is not there, as when a new one is about to take its place.
          if ((now.mtimeMs === before.mtimeMs && now.ino === before.ino) || now.mtimeMs === 0) return;
          turn = turn.then(() => apply(file));
        };
        watched.set(file, changed);
        watchFile(file, { interval: POLL_MS, persistent: false }, changed);
      }
    },
    stop() {
      for (const [file, changed] of watched) unwatchFile(file, changed);
    },
  };
}
