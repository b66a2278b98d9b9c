import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { access, type FileHandle, mkdir, mkdtemp, open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const TAIL_BYTES = 4_096;
const TAIL_LINES = 20;

/**
 * Where an agent keeps the output of its scripts: `.farmgate/NAME` beside the configuration, or a folder of its own
 * among the temporary files where that cannot be written.
 */
export async function outputDirectory(configDirectory: string, agent: string): Promise<string> {
  const wanted = join(configDirectory, ".farmgate", fileName(agent));
  try {
    await mkdir(wanted, { recursive: true });
    await access(wanted, constants.W_OK);
    return wanted;
  } catch {
    return mkdtemp(join(tmpdir(), "farmgate-"));
  }
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

/** The last lines of a file, at most 20 and 4 KB, without colours and other control characters. */
export async function readTail(file: string): Promise<string> {
  const handle = await open(file, "r");
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - TAIL_BYTES);
    const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, start);
    return tailOf(buffer.toString("utf8", 0, bytesRead));
  } finally {
    await handle.close();
  }
}

function tailOf(text: string): string {
  const plain = text.replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "").replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "");
  return plain.trim().split("\n").slice(-TAIL_LINES).join("\n");
}
