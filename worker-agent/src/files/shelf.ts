import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, realpath, statfs } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { makeFolder } from "@farmgate/wire";
import { hashFile } from "./hash-file.ts";

/** What identifies a file's content for as long as nobody writes to it. */
type Mark = Pick<Stats, "size" | "mtimeMs" | "ino">;

interface Known {
  mark: Mark;
  /** null: it is being read for that. */
  sha256: string | null;
}

/** The folder of models: what is in it, and nothing that a link in it leads to outside. */
export class Shelf {
  readonly #directory: string;
  readonly #known = new Map<string, Known>();
  readonly #stop = new AbortController();
  /** One file at a time is read for its hash. */
  #hashing: Promise<void> = Promise.resolve();

  /** `directory`: absolute. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  close(): void {
    this.#stop.abort();
  }

  /** Where a file would be, whatever is there. */
  pathOf(path: string): string {
    return join(this.#directory, path);
  }

  /**
   * Opens a file for reading; null: there is none. A name that leads out of the folder by a link counts as none. The
   * caller closes it.
   */
  async open(path: string): Promise<{ handle: FileHandle; bytes: number; mark: Mark } | null> {
    const file = await this.#inside(this.pathOf(path));
    if (file === null) return null;
    // A pipe would wait for its writer.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
    if (handle === null) return null;
    // A disk that fails, or a network's folder that changed meanwhile, opens what it then tells nothing of.
    const stats = await handle.stat().catch(() => null);
    if (stats?.isFile() === true) return { handle, bytes: stats.size, mark: stats };
    await closed(handle);
    return null;
  }

  async #markOf(path: string): Promise<Mark | null> {
    const opened = await this.open(path);
    if (opened !== null) await closed(opened.handle);
    return opened?.mark ?? null;
  }

  /** How long a file is, without reading it; null: there is no such file. */
  async bytesOf(path: string): Promise<number | null> {
    return (await this.#markOf(path))?.size ?? null;
  }

  /**
   * How long a file is, and its SHA-256 in hex: null while it is still being read for that, which the first call
   * begins. null: there is no such file.
   */
  async look(path: string): Promise<{ bytes: number; sha256: string | null } | null> {
    const mark = await this.#markOf(path);
    if (mark === null) {
      this.#known.delete(path);
      return null;
    }
    const known = this.#known.get(path);
    if (known !== undefined && isSame(known.mark, mark)) return { bytes: mark.size, sha256: known.sha256 };
    const next: Known = { mark, sha256: null };
    this.#known.set(path, next);
    this.#hashing = this.#hashing.then(() => this.#hash(path, next));
    return { bytes: mark.size, sha256: null };
  }

  /** A file that was just written and checked is known by its hash. */
  async checked(path: string, sha256: string): Promise<void> {
    const mark = await this.#markOf(path);
    if (mark !== null) this.#known.set(path, { mark, sha256 });
  }

  /** Makes the folders above a file. Rejects where a link leads out of the folder of models. */
  async makeRoomFor(path: string): Promise<void> {
    const folder = dirname(this.pathOf(path));
    await makeFolder(folder);
    if ((await this.#inside(folder)) === null) throw new Error(`${dirname(path)} leads out of the folder of models`);
  }

  /** Whether something has that name that no file can take the place of. A link gives way. */
  async isTaken(path: string): Promise<boolean> {
    const stats = await lstat(this.pathOf(path)).catch(() => null);
    return stats !== null && !stats.isFile() && !stats.isSymbolicLink();
  }

  /** Bytes that may still be written there. */
  async freeBytes(): Promise<number> {
    const { bavail, bsize } = await statfs(this.#directory);
    return bavail * bsize;
  }

  async #hash(path: string, known: Known): Promise<void> {
    if (this.#known.get(path) !== known) return;
    try {
      known.sha256 = (await hashFile(this.pathOf(path), known.mark.size, this.#stop.signal)).digest("hex");
    } catch {
      // Asked for again, it is tried again.
      if (this.#known.get(path) === known) this.#known.delete(path);
    }
  }

  /** The file or folder that a path leads to at last, where that is in the folder of models. */
  async #inside(path: string): Promise<string | null> {
    try {
      const [root, real] = await Promise.all([realpath(this.#directory), realpath(path)]);
      const way = relative(root, real);
      return way === ".." || way.startsWith(`..${sep}`) ? null : real;
    } catch {
      return null;
    }
  }
}

/** Of what was only looked at nothing is lost by a close that fails. */
function closed(handle: FileHandle): Promise<void> {
  return handle.close().catch(() => {});
}

function isSame(a: Mark, b: Mark): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ino === b.ino;
}
