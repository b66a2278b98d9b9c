/** Shares of the whole at which something is said where there is no terminal. */
const PLAIN_STEP = 0.1;
/** Milliseconds of real time from one picture to the next, and columns of its bar. */
const REDRAW_MS = 200;
const BAR = 24;

export interface ProgressDeps {
  write: (text: string) => void;
  /** One line that is drawn anew; else lines of their own. */
  isTerminal: boolean;
  /** Milliseconds of real time. */
  now: () => number;
}

/** How far a run is: a bar on a terminal, and a few plain lines anywhere else. */
export class Progress {
  readonly #deps: ProgressDeps;
  readonly #name: string;
  readonly #startedAt: number;
  #saidAt = -Infinity;
  #said = 0;
  #width = 0;

  constructor(name: string, deps: ProgressDeps) {
    this.#name = name;
    this.#deps = deps;
    this.#startedAt = deps.now();
  }

  /** `share`: of the whole run, 0 to 1. May be called as often as one likes. */
  at(share: number): void {
    const { isTerminal, write, now } = this.#deps;
    if (!isTerminal) {
      const step = Math.floor(share / PLAIN_STEP + 1e-9);
      if (step <= this.#said || share >= 1) return;
      this.#said = step;
      write(`${this.#name}: ${percent(share)}${this.#left(share)}\n`);
      return;
    }
    if (now() - this.#saidAt < REDRAW_MS) return;
    this.#saidAt = now();
    const full = Math.round(Math.min(1, share) * BAR);
    const bar = "#".repeat(full) + "-".repeat(BAR - full);
    this.#draw(`${this.#name} [${bar}] ${percent(share)}${this.#left(share)}`);
  }

  /** `told`: what came of it, in a few words. */
  done(told = ""): void {
    const seconds = ((this.#deps.now() - this.#startedAt) / 1_000).toFixed(1);
    const line = `${this.#name}: done in ${seconds} s${told === "" ? "" : `, ${told}`}`;
    if (this.#deps.isTerminal) this.#draw(line);
    this.#deps.write(this.#deps.isTerminal ? "\n" : `${line}\n`);
  }

  /** Over what stood there before, however long it was. */
  #draw(line: string): void {
    this.#deps.write(`\r${line.padEnd(this.#width)}`);
    this.#width = line.length;
  }

  #left(share: number): string {
    if (share <= 0) return "";
    const seconds = ((this.#deps.now() - this.#startedAt) * (1 / share - 1)) / 1_000;
    return `, ${Math.max(0, Math.round(seconds))} s left`;
  }
}

function percent(share: number): string {
  return `${Math.floor(100 * Math.min(1, share) + 1e-9)} %`;
}
