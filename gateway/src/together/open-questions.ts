import type { Clock } from "@farmgate/shared";

interface Open {
  /** Whose answers are still to come; null: it is told when all have come. */
  waiting: Set<string> | null;
  answers: Map<string, unknown>;
  end(): void;
}

/** What a member has asked the others, until all have answered or the time for it is over. */
export class OpenQuestions {
  readonly #clock: Clock;
  readonly #open = new Map<number, Open>();
  #last = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * The number under which the answers come. `members`: those who are asked; null: whoever that is tells by `end` that
   * no more answers come.
   */
  begin(
    members: readonly string[] | null,
    timeoutMs: number,
  ): { number: number; answers: Promise<ReadonlyMap<string, unknown>> } {
    const number = ++this.#last;
    const answers = new Promise<ReadonlyMap<string, unknown>>((resolve) => {
      const open: Open = {
        waiting: members && new Set(members),
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
      for (const member of open.waiting ?? []) if (!members.includes(member)) this.#without(open, member);
    }
  }

  end(number: number): void {
    this.#open.get(number)?.end();
  }

  endAll(): void {
    for (const open of this.#open.values()) open.end();
  }

  #without(open: Open, member: string): void {
    open.waiting?.delete(member);
    if (open.waiting?.size === 0) open.end();
  }
}
