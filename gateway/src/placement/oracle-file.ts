import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CancelTimer, Clock } from "@farmgate/shared";
import { makeFolder } from "@farmgate/wire";
import { decodeOracles, encodeOracles, type Oracles } from "./oracle/codec.ts";
import type { OracleOptions } from "./oracle/options.ts";

const NAME = "oracles.json";
const DEFAULT_EVERY_MS = 60_000;

export interface OracleFileOptions {
  clock: Clock;
  /** Milliseconds from one writing to the next, at least. */
  everyMs?: number;
  /** Is told, as a sentence, that the file could not be read or written. */
  tell: (problem: string) => void;
}

/**
 * What the Oracles have learned, in a file of the state directory. It never fails: without the file, a farm learns anew.
 * One file has one writer.
 */
export class OracleFile {
  readonly #directory: string;
  readonly #options: Required<OracleFileOptions>;
  #writtenAt = -Infinity;
  #timer: CancelTimer | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(directory: string, options: OracleFileOptions) {
    this.#directory = directory;
    this.#options = { everyMs: DEFAULT_EVERY_MS, ...options };
  }

  /** The Oracles as they were saved; empty ones when there is no file or it is damaged. */
  async read(capacity: OracleOptions, elasticity = capacity): Promise<Oracles> {
    let text: string;
    try {
      text = await readFile(join(this.#directory, NAME), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") this.#tell("read", error);
      return decodeOracles('{"version":1,"capacity":[],"elasticity":[]}', capacity, elasticity);
    }
    const { problem, ...oracles } = decodeOracles(text, capacity, elasticity);
    if (problem !== null) this.#options.tell(`${join(this.#directory, NAME)}: ${problem}`);
    return oracles;
  }

  /** Has them written: at once, or as they are then as soon as the last writing is long enough ago. */
  save(oracles: Oracles): void {
    const { clock, everyMs } = this.#options;
    this.#timer ??= clock.after(Math.max(0, this.#writtenAt + everyMs - clock.now()), () => {
      void this.flush(oracles);
    });
  }

  /** Writes them now, for the end of the program; resolves when the file is there or `tell` knows why not. */
  flush(oracles: Oracles): Promise<void> {
    this.#timer?.();
    this.#timer = null;
    this.#writtenAt = this.#options.clock.now();
    this.#writing = this.#writing.then(() => this.#write(encodeOracles(oracles)));
    return this.#writing;
  }

  /** A whole file or none: who reads meanwhile, or after a crash, finds the last one. */
  async #write(text: string): Promise<void> {
    const path = join(this.#directory, NAME);
    try {
      await makeFolder(this.#directory);
      await writeFile(`${path}.draft`, text, { mode: 0o600 });
      await rename(`${path}.draft`, path);
    } catch (error) {
      this.#tell("written", error);
    }
  }

  #tell(what: string, error: unknown): void {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    this.#options.tell(
      `${join(this.#directory, NAME)} cannot be ${what} (${code}); what is learned lasts until the end only`,
    );
  }
}
