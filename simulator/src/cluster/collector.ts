import type { LoadSource } from "./host-store.ts";

/**
 * `done`: whole, late or not. `timed-out`: it waited too long, or no instance could make its deadline. `refused`: its
 * tokens fit into no empty instance.
 */
export type Outcome = "done" | "timed-out" | "refused";

/** Hears what happens in a cluster. Times in virtual milliseconds; `app` is a place in the list of applications. */
export interface ClusterCollector {
  /** Once for each request. `firstTokenAt` is `endedAt` where no token came. `waitedMs`: before its prompt was begun. */
  ended(
    app: number,
    arrivedAt: number,
    firstTokenAt: number,
    endedAt: number,
    outputTokens: number,
    outcome: Outcome,
    waitedMs: number,
  ): void;
  /** So many devices hold a model, or are being loaded with one, from now on. */
  devices(now: number, used: number): void;
  /** An instance is ready; what the policy started with is not told of. `bytes`: over all its devices. */
  loaded(source: LoadSource, bytes: number, ms: number): void;
  /** An instance became ready at a new place for an old one. */
  moved(): void;
  /** An instance left its devices. */
  evicted(): void;
}

/** What else a run counts, over all of it. */
export interface ClusterCounts {
  events: number;
  activations: number;
  /** Actions that could not be; by reason in `refusals`. */
  refusedActions: number;
  handovers: number;
  handoverBytes: number;
  relaxedDeadlines: number;
  /** Pages mapped, unmapped, and mapped anew because of gaps between weights. */
  mappedPages: number;
  unmappedPages: number;
  remappedPages: number;
  /** The most pages that were ever free between weights on one device. */
  mostGapPages: number;
  /** Bytes of last pages that the state of their requests left empty, summed over all requests on all their devices. */
  emptyTailBytes: number;
  /** Milliseconds that prompts and hand-overs waited for pages to be mapped. */
  mapWaitMs: number;
}

export const noCounts = (): ClusterCounts => ({
  events: 0,
  activations: 0,
  refusedActions: 0,
  handovers: 0,
  handoverBytes: 0,
  relaxedDeadlines: 0,
  mappedPages: 0,
  unmappedPages: 0,
  remappedPages: 0,
  mostGapPages: 0,
  emptyTailBytes: 0,
  mapWaitMs: 0,
});
