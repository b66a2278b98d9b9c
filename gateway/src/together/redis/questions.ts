import type { Clock } from "@farmgate/shared";

interface Open {
  /** Whose answers are still to come. */
  waiting: Set<string>;
  answers: Map<string, unknown>;
  end(): void;
}

/** What was asked and is not answered by all. */
export class Questions {
  readonly #clock: Clock;
  readonly #open = new Map<number, Open>();
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The number under which the answers of these come. */
  begin(
    members: readonly string[],
    timeoutMs: number,
  ): { number: number; answers: Promise<ReadonlyMap<string, unknown>> } {
    this.#last += 1;
    const number = this.#last;
    const answers = new Promise<ReadonlyMap<string, unknown>>((resolve) => {
      const open: Open = {
        waiting: new Set(members),
        answers: new Map(),
        end: () => {
          stopTimer();
          this.#open.delete(number);
          resolve(open.answers);
        },
      };
      const stopTimer = this.#clock.after(timeoutMs, () => open.end());
      this.#open.set(number, open);
    });
    return { number, answers };
  }

  /** `value` undefined: it has nothing to say. */
  answered(number: number, from: string, value: unknown): void {
    const open = this.#open.get(number);
    if (open === undefined) return;
    if (value !== undefined) open.answers.set(from, value);
    this.#without(open, from);
  }

  /** Who has left answers nothing any more. */
  keepOnly(members: readonly string[]): void {
    for (const open of this.#open.values()) {
      for (const member of open.waiting) if (!members.includes(member)) this.#without(open, member);
    }
  }

  endAll(): void {
    for (const open of this.#open.values()) open.end();
  }

  #without(open: Open, member: string): void {
    open.waiting.delete(member);
    if (open.waiting.size === 0) open.end();
  }
}
