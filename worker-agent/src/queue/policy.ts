/** A model that somebody waits for. */
export interface WaitingModel {
  readonly name: string;
  /** Milliseconds on the scheduler's clock: its place in line (rule R1 in place.ts). */
  readonly since: number;
  /**
   * `ready`: loaded, its gate open, a slot free; `cold`: not loaded, but a load may begin now; `blocked`: it has to wait
   * whatever is chosen (no free slot, a shut gate, on its way, or no room for it yet).
   */
  readonly state: "ready" | "cold" | "blocked";
}

/** What a policy looks at. */
export interface Line {
  /** In the order in which each one's oldest waiting job arrived. */
  readonly waiting: readonly WaitingModel[];
}

/** The choice that anyone can change. The scheduler keeps it within its rules where the policy says so. */
export interface Policy {
  /** The model whose job goes next, or that is loaded next; null: none for now. One that is blocked is not followed. */
  next(line: Line): string | null;
  /** True: rules R2 to R4 apply, so that nobody waits without bound. */
  readonly due: boolean;
  /** True: arrival order and nothing else, for comparison; neither priorities nor callers count. */
  readonly strict: boolean;
}
