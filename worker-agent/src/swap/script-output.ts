import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, type FileHandle, lstat, mkdir, mkdtemp, open, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getuid } from "node:process";
import type { CancelTimer, Clock } from "@farmgate/shared";
import { makeFolder } from "@farmgate/wire";
import type { ServedModel } from "../served-model.ts";

const TAIL_BYTES = 4_096;
const TAIL_LINES = 20;

/**
 * Where an agent keeps the output of what it runs, and its notes of that: `.farmgate/NAME` beside the configuration, or
 * where that cannot be written a folder among the temporary files, the same one after a restart.
 */
export async function outputDirectory(configDirectory: string, agent: string): Promise<string> {
  const wanted = join(configDirectory, ".farmgate", fileName(agent));
  try {
    await makeFolder(wanted);
    await access(wanted, constants.W_OK);
    return wanted;
  } catch {
    return temporaryDirectory(wanted);
  }
}

async function temporaryDirectory(wanted: string): Promise<string> {
  const user = getuid?.() ?? 0;
  const directory = join(
    tmpdir(),
    `farmgate-${createHash("sha256").update(`${user}:${wanted}`).digest("hex").slice(0, 16)}`,
  );
  await mkdir(directory, { mode: 0o700 }).catch(() => {});
  const found = await lstat(directory).catch(() => null);
  // Others can write among the temporary files too: what lies there must be this user's own.
  const isOwn = found?.isDirectory() === true && found.uid === user && (found.mode & 0o022) === 0;
  return isOwn ? directory : mkdtemp(join(tmpdir(), "farmgate-"));
}

/** Where the output goes of the script that loads this model, or of its command. */
export function logFileOf(directory: string, { name, heldBy }: Pick<ServedModel, "name" | "heldBy">): string {
  return join(directory, `${heldBy.kind === "command" ? "command" : "swap"}-${fileName(name)}.log`);
}

/** A name as part of a file name. Two names never meet: one that had to be changed carries a piece of its hash. */
export function fileName(name: string): string {
  const safe = name
    .replace(/[^A-Za-z0-9._-]/g, "_")
    .replace(/^\.+/, "_")
    .slice(0, 80);
  return safe === name ? name : `${safe}-${createHash("sha256").update(name).digest("hex").slice(0, 8)}`;
}

/**
 * Opens a fresh output file. It is appended to, so that an engine which still writes to it from an earlier run
 * leaves no hole in it.
 */
export async function openOutput(file: string): Promise<FileHandle> {
  const empty = await open(file, "w", 0o600);
  await empty.close();
  return open(file, "a");
}

/** How large an output file may grow, and what of its end is kept then; in bytes. */
const LIMITS = { most: 16 * 1_024 ** 2, kept: 256 * 1_024 };
/** An engine that writes as fast as it can fills a disk in minutes. */
const LOOK_MS = 5_000;

/**
 * Keeps the output files of a folder small: an engine that a script left in the background writes on for months. Looks
 * every five seconds until the returned function is called.
 */
export function keepOutputSmall(directory: string, clock: Clock): CancelTimer {
  let stop: CancelTimer = () => {};
  let stopped = false;
  const look = async () => {
    const names = await readdir(directory).catch(() => []);
    for (const name of names) if (name.endsWith(".log")) await trimOutput(join(directory, name)).catch(() => {});
  };
  const again = () => {
    if (stopped) return;
    stop = clock.after(LOOK_MS, () => void look().finally(again));
  };
  again();
  return () => {
    stopped = true;
    stop();
  };
}

/** Cuts a file that has grown over the limit down to its last whole lines. Whoever appends to it goes on unharmed. */
export async function trimOutput(file: string, { most, kept } = LIMITS): Promise<void> {
  const handle = await open(file, "a+");
  try {
    const { size } = await handle.stat();
    if (size <= most) return;
    const tail = Buffer.alloc(kept);
    const { bytesRead } = await handle.read(tail, 0, kept, size - kept);
    const text = tail.subarray(0, bytesRead);
    await handle.truncate(0);
    await handle.write(text.subarray(text.indexOf("\n") + 1));
  } finally {
    await handle.close();
  }
}

/** The last lines of a file, at most 20 and 4 KB, without colours and other control characters. */
export function readTail(file: string): Promise<string> {
  return readLastLines(file, TAIL_LINES, TAIL_BYTES);
}

/**
 * The last whole lines of a file, at most so many and so many bytes, without colours, titles and other control
 * characters, those included that turn the direction of writing.
 */
export async function readLastLines(file: string, lines: number, bytes: number): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const buffer = Buffer.alloc(Math.min(size, bytes));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, size - buffer.length);
    const text = buffer.subarray(0, bytesRead);
    const whole = size > bytes && text.includes("\n") ? text.subarray(text.indexOf("\n") + 1) : text;
    return withoutControl(whole.toString("utf8")).trim().split("\n").slice(-lines).join("\n");
  } finally {
    await handle.close();
  }
}

function withoutControl(text: string): string {
  return text
    .replace(/\u001b\][^\u0007\u001b\n]*(?:\u0007|\u001b\\)/g, "")
    .replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "");
}
