import { movingMean } from "@farmgate/shared";

/** Weight of the newest answer in the mean. */
const NEWEST = 0.1;
/** What is assumed before the first answer has ended, in milliseconds. */
const FIRST_GUESS = 5_000;

/** A moving mean of how long answers take, for the estimate that a caller is told when the queue is full. */
export class AnswerTimes {
  #mean: number | null = null;

  add(ms: number): void {
    this.#mean = movingMean(this.#mean, ms, NEWEST);
  }

  /** Milliseconds in which `jobs` are served by `slots`, loads not counted. */
  toServe(jobs: number, slots: number): number {
    return ((this.#mean ?? FIRST_GUESS) * jobs) / slots;
  }
}
