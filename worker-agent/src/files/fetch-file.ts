import { constants } from "node:fs";
import { type FileHandle, open, rename, rm } from "node:fs/promises";
import { basename } from "node:path";
import { formatSize } from "@farmgate/shared";
import { pause } from "../swap/pause.ts";
import { download, type DownloadOptions, type Partial } from "./download.ts";
import { hashFile } from "./hash-file.ts";
import type { Shelf } from "./shelf.ts";

/** A peer is asked again after a break, in milliseconds: the pause doubles while nothing comes. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** So many breaks in a row that brought less than this, and the peer is given up. */
const MOST_FRUITLESS = 5;
const LEAST_FRUIT = 256 * 1_024;
/** A pipe would wait for its reader. */
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Left free on the disk. */
const SPARE_BYTES = 64 * 1_024 ** 2;

export interface FetchOptions extends DownloadOptions {
  shelf: Shelf;
  /** Of this agent: two agents that share a folder do not write into one unfinished file. */
  agent: string;
  progress: (at: number) => void;
}

/**
 * Brings a file from a peer into the folder of models. What an earlier try brought is read again and gone on from; a break
 * is tried again; only what has the right SHA-256 gets the file's name. Why it did not come; null: it is here. What came
 * of a file that broke off stays; of one with a wrong hash nothing does.
 */
export async function fetchFile(options: FetchOptions): Promise<string | null> {
  const { shelf, path, bytes, agent } = options;
  const file = shelf.pathOf(path);
  const unfinished = `${file}.${agent}.part`;
  let opened: FileHandle | null = null;
  try {
    await shelf.makeRoomFor(path);
    if (await shelf.isTaken(path)) return `${path} is there and no file`;
    const handle = await open(unfinished, FLAGS);
    opened = handle;
    const partial = await whatIsHere(handle, unfinished, bytes, options.signal);
    options.progress(partial.at);
    const free = await shelf.freeBytes();
    if (free < bytes - partial.at + SPARE_BYTES) {
      return `there is no room: ${formatSize(bytes - partial.at)} are to come and ${formatSize(free)} are free`;
    }
    const trouble = await goOn(partial, options);
    if (trouble !== null) return trouble;
    if (partial.hash.digest("hex") !== options.sha256) {
      await rm(unfinished, { force: true });
      return "what came has another SHA-256 than was told, and was thrown away";
    }
    await handle.sync();
    await rename(unfinished, file);
    await shelf.checked(path, options.sha256);
    return null;
  } catch (error) {
    return (error as Error).message;
  } finally {
    // A whole file is on the disk by then; of another one the hash is looked at again.
    await opened?.close().catch(() => {});
  }
}

async function whatIsHere(handle: FileHandle, file: string, bytes: number, signal: AbortSignal): Promise<Partial> {
  const stats = await handle.stat();
  if (!stats.isFile()) throw new Error(`${basename(file)} is there and no file`);
  const { size } = stats;
  // It was another file's, or of another length then.
  if (size > bytes) await handle.truncate(0);
  const at = size > bytes ? 0 : size;
  return { handle, at, hash: await hashFile(file, at, signal) };
}

async function goOn(partial: Partial, options: FetchOptions): Promise<string | null> {
  const { bytes, clock, signal, progress } = options;
  for (let fruitless = 0; partial.at < bytes; ) {
    const before = partial.at;
    const trouble = await download(partial, {
      ...options,
      received: (n) => (options.received(n), progress(partial.at)),
    });
    if (trouble === null) break;
    fruitless = partial.at - before >= LEAST_FRUIT ? 0 : fruitless + 1;
    if (signal.aborted || fruitless >= MOST_FRUITLESS) return trouble;
    await pause(Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** fruitless), clock, signal);
  }
  return null;
}
