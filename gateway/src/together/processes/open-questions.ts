import type { Clock } from "@farmgate/shared";

interface Open {
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

  /** The number that the answers come under. */
  begin(timeoutMs: number): { number: number; answers: Promise<ReadonlyMap<string, unknown>> } {
    const number = ++this.#last;
    const answers = new Promise<ReadonlyMap<string, unknown>>((resolve) => {
      const open: Open = {
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

  answered(number: number, from: string, value: unknown): void {
    this.#open.get(number)?.answers.set(from, value);
  }

  end(number: number): void {
    this.#open.get(number)?.end();
  }

  endAll(): void {
    for (const open of this.#open.values()) open.end();
  }
}
