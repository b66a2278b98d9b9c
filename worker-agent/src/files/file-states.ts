import type { ModelFile } from "./model-files.ts";
import { type ComingFile, leftMs, NOT_COMING } from "./coming-file.ts";

/** What the weights of one model are on this machine's disk. */
export interface WeightsState {
  /** Of all its files; null: not known, or it names none. */
  bytes: number | null;
  /** A file of it is not here. */
  absent: boolean;
  /** Until its files are here, in milliseconds: 0 where none is absent; null: not known. */
  leftMs: number | null;
}

const NOTHING_NAMED: WeightsState = { bytes: null, absent: false, leftMs: 0 };

/** What was seen last of each file of the models. */
export class FileStates {
  readonly #pathsOf = new Map<string, string[]>();
  /** Bytes by path; null: it is not here. */
  readonly #seen = new Map<string, number | null>();
  readonly #coming = new Map<string, ComingFile>();

  constructor(files: readonly ModelFile[]) {
    for (const { path, models } of files) {
      for (const model of models) this.#pathsOf.set(model, [...(this.#pathsOf.get(model) ?? []), path]);
    }
  }

  /** `bytes` null: it is not here. */
  saw(path: string, bytes: number | null): void {
    this.#seen.set(path, bytes);
    if (bytes !== null) this.#coming.delete(path);
  }

  coming(path: string): ComingFile {
    return this.#coming.get(path) ?? NOT_COMING;
  }

  comes(path: string, how: ComingFile): void {
    this.#coming.set(path, how);
  }

  /** `speedFor`: bytes a second at which a file that is not here comes, or would; null: not known. */
  weightsOf(model: string, speedFor: (coming: ComingFile) => number | null): WeightsState {
    const paths = this.#pathsOf.get(model);
    if (paths === undefined) return NOTHING_NAMED;
    let bytes: number | null = 0;
    let left: number | null = 0;
    let absent = false;
    for (const path of paths) {
      const seen = this.#seen.get(path);
      const coming = this.coming(path);
      const size = seen ?? coming.bytes;
      bytes = bytes === null || size === null ? null : bytes + size;
      if (seen !== null) continue;
      absent = true;
      const ms = leftMs(coming, speedFor(coming));
      left = left === null || ms === null ? null : left + ms;
    }
    return { bytes, absent, leftMs: left };
  }
}
