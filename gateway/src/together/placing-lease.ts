import type { Clock } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { Hub, Lease } from "./hub.ts";

/** The right to have models loaded and unloaded, as who orders needs it. */
export interface OrderRight {
  /** Orders may be sent. */
  readonly isHeld: boolean;
  /** Goes along with them, so that those of an earlier holder can be refused; null: nobody else could have sent one. */
  readonly fence: number | null;
  /** A worker has had orders of a later holder than the one of this fence. */
  outdated(fence: number): void;
}

export interface PlacingLeaseDeps {
  hub: Pick<Hub, "isShared" | "lease">;
  clock: Pick<Clock, "now" | "after">;
  log: Pick<Log, "info" | "warn">;
}

/** After that it is tried again, in milliseconds: a worker may have heard the number of some other farm. */
const OUTDATED_MS = 60_000;

/** placement and keepWarm order at one gateway of those that act as one: at the one that holds this lease. */
export class PlacingLease implements OrderRight {
  readonly #deps: PlacingLeaseDeps;
  #lease: Lease | null = null;
  #outdated: { fence: number; at: number } | null = null;
  #wasHeld = false;
  #changed = (): void => {};

  constructor(deps: PlacingLeaseDeps) {
    this.#deps = deps;
  }

  get isHeld(): boolean {
    const fence = this.#lease?.fence ?? null;
    if (fence === null) return false;
    const outdated = this.#outdated;
    return outdated === null || outdated.fence !== fence || this.#deps.clock.now() - outdated.at >= OUTDATED_MS;
  }

  get fence(): number | null {
    return this.#deps.hub.isShared ? (this.#lease?.fence ?? null) : null;
  }

  /** Asks for it, from now on; `changed` is told when it is won or lost. */
  take(changed: () => void): void {
    this.#lease = this.#deps.hub.lease("placement");
    this.#changed = () => {
      this.#tell();
      changed();
    };
    this.#lease.onChange(() => this.#changed());
    this.#tell();
  }

  outdated(fence: number): void {
    const { clock } = this.#deps;
    this.#outdated = { fence, at: clock.now() };
    clock.after(OUTDATED_MS, () => this.#changed());
    this.#tell();
  }

  /** Another gateway may have it. */
  release(): Promise<void> {
    return this.#lease?.release() ?? Promise.resolve();
  }

  #tell(): void {
    const { hub, log } = this.#deps;
    const { isHeld } = this;
    if (isHeld === this.#wasHeld || !hub.isShared) return;
    this.#wasHeld = isHeld;
    const fence = this.#lease?.fence ?? null;
    if (isHeld) log.info({ fence }, "this gateway orders loads and unloads from now on");
    else log.info({}, "this gateway orders no loads and unloads any more: another one does");
  }
}
