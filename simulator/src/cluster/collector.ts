import type { LoadSource } from "./host-store.ts";

/**
 * `served`: whole, late or not. `timed-out`: it waited too long, or no instance could make its deadline. `refused`: its
 * tokens fit into no empty instance.
 */
export type Outcome = "served" | "timed-out" | "refused";

/** Hears what happens in a cluster. Times in virtual milliseconds; `app` and `device` are places in lists. */
export interface Collector {
  /** `firstTokenAt` and `startedAt` (its prefill began) are NaN when it never came to that. */
  ended(
    app: number,
    arrivedAt: number,
    firstTokenAt: number,
    endedAt: number,
    outputTokens: number,
    outcome: Outcome,
    startedAt: number,
  ): void;
  /** So many devices hold a model, or are being loaded with one, from now on. */
  occupied(at: number, devices: number): void;
  /** An instance is ready. `bytes`: moved for it, over all its devices. */
  loaded(at: number, app: number, source: LoadSource, bytes: number, tookMs: number): void;
  /** An instance became ready at a new place for an old one. */
  moved(at: number, app: number): void;
  /** An instance left its devices. */
  evicted(at: number, app: number): void;
  /** Bytes of state that went from a prefill instance to a decode instance. */
  handedOver(at: number, app: number, bytes: number): void;
  /** The policy asked for what cannot be; nothing was done. */
  refusedAction(at: number, why: string): void;
}
