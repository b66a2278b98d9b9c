import { unwatchFile, watchFile } from "node:fs";
import { resolve } from "node:path";
import { ConfigError } from "@farmgate/shared";
import type { Log, TlsPair } from "@farmgate/wire";

const POLL_MS = 1_000;

export interface RenewOptions {
  /** What the listener shows; null: nothing. */
  files: { cert: string; key: string } | null;
  /** Names of files are relative to it. */
  directory: string;
  /** Reads and checks both files; rejects with what is wrong. */
  read: () => Promise<TlsPair | null>;
  renew: (pair: TlsPair) => void;
  log: Log;
}

/**
 * Takes a listener's certificate and key anew whenever one of their files has changed. Between the two of a renewal
 * they do not go together: then the old ones stay, and the next change is looked at again. Returns what ends it.
 */
export function renewOnChange({ files, directory, read, renew, log }: RenewOptions): () => void {
  if (files === null) return () => {};
  const paths = [...new Set([files.cert, files.key].map((file) => resolve(directory, file)))];
  let turn = Promise.resolve();
  const take = async () => {
    try {
      const pair = await read();
      if (pair === null) return;
      renew(pair);
      log.info({ cert: files.cert }, "the renewed certificate is in use");
    } catch (error) {
      const reason = error instanceof ConfigError ? error.message : String((error as NodeJS.ErrnoException).code);
      log.warn({ cert: files.cert, reason }, "the changed certificate cannot be used yet; the old one stays in use");
    }
  };
  const changed = (now: { mtimeMs: number; ino: number }, before: { mtimeMs: number; ino: number }) => {
    // Only the access time moved, or it is not there, as when a new one is about to take its place.
    if ((now.mtimeMs === before.mtimeMs && now.ino === before.ino) || now.mtimeMs === 0) return;
    turn = turn.then(take);
  };
  for (const path of paths) watchFile(path, { interval: POLL_MS, persistent: false }, changed);
  return () => {
    for (const path of paths) unwatchFile(path, changed);
  };
}
