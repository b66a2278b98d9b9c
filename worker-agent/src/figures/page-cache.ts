/** The host's memory, and how much of it each model's weights would take; null: not known. In bytes. */
export interface HostMemory {
  bytes: number;
  sizeOf: (model: string) => number | null;
}

/** What of the host's memory is counted on for weights; the rest is for programs, and for files that are none. */
const FOR_WEIGHTS = 0.75;
/** Where sizes are not known: after so many milliseconds out of memory a model's files may have left the page cache. */
const CACHED_FOR = 3_600_000;
/** Beyond so many models the one read longest ago is forgotten. */
const MAX_MODELS = 10_000;

interface Reading {
  model: string;
  /** When it was last known to be loaded. */
  seenAt: number;
}

/** An estimate of whose weights are in the host's page cache: no engine tells, and asking the system would take root. */
export class PageCache {
  readonly #host: HostMemory | null;
  /** The last read first. */
  readonly #readings: Reading[] = [];

  /** `host` null: sizes are not known. */
  constructor(host: HostMemory | null) {
    this.#host = host;
  }

  /** Its weights were read now, or it was found loaded. */
  read(model: string, now: number): void {
    const at = this.#readings.findIndex((one) => one.model === model);
    if (at >= 0) this.#readings.splice(at, 1);
    this.#readings.unshift({ model, seenAt: now });
    if (this.#readings.length > MAX_MODELS) this.#readings.pop();
  }

  /** Taken out of memory. */
  left(model: string, now: number): void {
    const reading = this.#readings.find((one) => one.model === model);
    if (reading !== undefined) reading.seenAt = now;
  }

  /**
   * Whether a load now would find the weights in memory:
   *
   * 1. never read here: no;
   * 2. it and all that was read since fit into the host's memory together: yes, else no. In a cache that lets go what was
   *    not read for longest this is exact, and called the stack distance (Mattson, Gecsei, Slutz and Traiger,
   *    "Evaluation techniques for storage hierarchies", 1970);
   * 3. one of these sizes is not known: if it was loaded within the last hour.
   */
  has(model: string, now: number): boolean {
    let bytes: number | null = 0;
    for (const reading of this.#readings) {
      const size = this.#host?.sizeOf(reading.model) ?? null;
      bytes = bytes === null || size === null ? null : bytes + size;
      if (bytes !== null && bytes > FOR_WEIGHTS * (this.#host?.bytes ?? 0)) return false; // (2)
      if (reading.model === model) return bytes !== null || now - reading.seenAt <= CACHED_FOR; // (2), (3)
    }
    return false; // (1)
  }
}
