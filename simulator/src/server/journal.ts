import type { Clock } from "@farmgate/shared";

export type JournalKind =
  | "load"
  | "loaded"
  | "load-failed"
  | "evicted"
  | "unloaded"
  | "start"
  | "served"
  | "left"
  | "reset"
  | "refused";

/** One thing that happened in an engine. */
export interface JournalEntry {
  /** Milliseconds on the engine's clock. */
  at: number;
  event: JournalKind;
  model: string;
  /** The engine's own number of the request, or null for what concerns the model. */
  job: string | null;
}

export interface JournalCounts {
  /** Loads begun. */
  loads: number;
  /** Models that left memory, evicted or asked to. */
  unloads: number;
  /** Answers that reached their end. */
  served: number;
  /** Callers who left before the end of their answer. */
  left: number;
  /** Answers that broke off as a failure form had it. */
  reset: number;
  /** Requests that were refused while they waited. */
  refused: number;
}

const KEPT = 10_000;

/** Counts what happened and keeps the last of it; whoever waits for something looks again after each entry. */
export class Journal {
  readonly counts: JournalCounts = { loads: 0, unloads: 0, served: 0, left: 0, reset: 0, refused: 0 };
  readonly entries: JournalEntry[] = [];
  readonly #clock: Clock;
  readonly #watchers = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  write(event: JournalKind, model: string, job: string | null = null): void {
    this.entries.push({ at: this.#clock.now(), event, model, job });
    if (this.entries.length > 2 * KEPT) this.entries.splice(0, KEPT);
    if (event === "load") this.counts.loads += 1;
    else if (event === "evicted" || event === "unloaded") this.counts.unloads += 1;
    else if (event === "served" || event === "left" || event === "reset" || event === "refused") {
      this.counts[event] += 1;
    }
    this.changed();
  }

  /** Something that is not an entry has changed too. */
  changed(): void {
    for (const watcher of this.#watchers) watcher();
  }

  /** Resolves as soon as `holds` does; rejects with `describe()` after `ceilingMs`. */
  waitFor(holds: () => boolean, ceilingMs: number, describe: () => string): Promise<void> {
    return new Promise((resolve, reject) => {
      if (holds()) {
        resolve();
        return;
      }
      const watcher = () => {
        if (!holds()) return;
        this.#watchers.delete(watcher);
        cancel();
        resolve();
      };
      const cancel = this.#clock.after(ceilingMs, () => {
        this.#watchers.delete(watcher);
        reject(new Error(`the engine did not get there in ${ceilingMs} ms: ${describe()}`));
      });
      this.#watchers.add(watcher);
    });
  }
}
