/** A model that somebody waits for. */
export interface WaitingModel {
  readonly name: string;
  /** Milliseconds on the scheduler's clock: its place in line (rule R1 in place.ts). */
  readonly since: number;
}

/** What a policy looks at. */
export interface Line {
  /** The model proved ready, if any. */
  readonly loaded: string | null;
  /** In the order in which each one's oldest waiting job arrived. */
  readonly waiting: readonly WaitingModel[];
}

/** The choice that anyone can change. The scheduler keeps it within rules R1 to R7, unless it is `strict`. */
export interface Policy {
  /** The model whose job goes next; null: none for now. Another than the loaded one costs a swap. */
  next(line: Line): string | null;
  /** True: arrival order and nothing else, for comparison; neither turns nor priorities nor callers count. */
  readonly strict: boolean;
}
