/** Cancels a pending timer; calling it again, or after the timer fired, does nothing. */
export type CancelTimer = () => void;

/** Time as an argument. Deciders get `now` values; doers get the whole clock. */
export interface Clock {
  /** Milliseconds on a monotonic scale with an arbitrary start. */
  now(): number;
  /** Milliseconds since the Unix epoch, for people and wire formats only. */
  wall(): number;
  /** Runs `fn` once after `ms` milliseconds. A pending timer does not keep the process alive. */
  after(ms: number, fn: () => void): CancelTimer;
}
