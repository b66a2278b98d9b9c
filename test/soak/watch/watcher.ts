// Looks at the processes of a run every second.
import { cpuMs } from "../../bench/process/proc-stat.ts";
import { availableParallelism } from "node:os";
import type { Program } from "../farm/programs.ts";
import { leastHeap, sampleAt } from "./flat.ts";
import { type Sample, sampleOf } from "./sample.ts";

const EVERY_MS = 1_000;
/** A heap is told as the least of so long, since it goes up and down between two collections. */
const HEAP_WINDOW_MS = 15_000;

/** Processes at one moment, by name. */
export type Moment = Record<string, Sample | undefined>;

export class Watcher {
  readonly samples: Record<string, Sample[]>;
  /** Scrapes without an answer. */
  missed = 0;
  readonly #programs: readonly Program[];
  readonly #began = performance.now();
  readonly #timer: NodeJS.Timeout;
  #cpu = { ms: 0, at: 0 };

  constructor(programs: readonly Program[]) {
    this.#programs = programs;
    this.samples = Object.fromEntries(programs.map(({ name }) => [name, []]));
    this.#timer = setInterval(() => void this.look(), EVERY_MS);
    this.cpuShare();
  }

  /** Milliseconds since it began. */
  get ms(): number {
    return performance.now() - this.#began;
  }

  async look(): Promise<void> {
    for (const program of this.#programs) {
      const sample = await sampleOf(program, this.ms).catch(() => null);
      if (sample === null) this.missed += 1;
      else this.samples[program.name]?.push(sample);
    }
  }

  /** Each process at a moment, with the heap that it had kept around then. */
  at(ms: number): Moment {
    return Object.fromEntries(
      Object.entries(this.samples).map(([name, samples]) => {
        const sample = sampleAt(samples, ms);
        if (sample === undefined) return [name, undefined];
        const heap = leastHeap(samples, sample.at - HEAP_WINDOW_MS, sample.at);
        return [name, { ...sample, heap }];
      }),
    );
  }

  /** The share of all cores that this process and all below it took since the last call. */
  cpuShare(): number {
    const now = { ms: cpuMs(process.pid), at: this.ms };
    const share = (now.ms - this.#cpu.ms) / (now.at - this.#cpu.at) / availableParallelism();
    this.#cpu = now;
    return share;
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
