import type { Clock } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { Hub, Lease } from "./hub.ts";

/** The right to have models loaded and unloaded, as who orders needs it. */
export interface OrderRight {
  /** Orders may be sent. */
  readonly isHeld: boolean;
  /** Goes along with them, so that those of an earlier holder can be refused; null: nobody else could have sent one. */
  readonly fence: number | null;
  /**
   * A worker says that it has had orders of a later holder than the one of this fence. Whether that is so: false where
   * the hub says that this gateway still holds the right by it, whatever one worker was told.
   */
  isOutdated(fence: number): Promise<boolean>;
}

export interface PlacingLeaseDeps {
  hub: Pick<Hub, "isShared" | "lease">;
  clock: Pick<Clock, "after">;
  log: Pick<Log, "info" | "warn">;
}

/** Between two questions whether the lease is still held, where the hub did not say so; in milliseconds. */
const ASK_AGAIN_MS = 1_000;

/**
 * placement and keepWarm order at one gateway of those that act as one: at the one that holds this lease. Where a
 * worker denies it, no orders are sent until the hub has confirmed it, or it has run out, as each does that is not renewed.
 */
export class PlacingLease implements OrderRight {
  readonly #deps: PlacingLeaseDeps;
  #lease: Lease | null = null;
  #doubt: Promise<boolean> | null = null;
  #wasHeld = false;
  #changed = (): void => {};

  constructor(deps: PlacingLeaseDeps) {
    this.#deps = deps;
  }

  get isHeld(): boolean {
    return this.#doubt === null && (this.#lease?.fence ?? null) !== null;
  }

  get fence(): number | null {
    return this.#deps.hub.isShared ? (this.#lease?.fence ?? null) : null;
  }

  /** Asks for it, from now on; `changed` is told when it is won or lost, and when a doubt has ended. */
  take(changed: () => void): void {
    this.#lease = this.#deps.hub.lease("placement");
    this.#changed = () => {
      if (this.#doubt === null) this.#tell();
      changed();
    };
    this.#lease.onChange(() => this.#changed());
    this.#tell();
  }

  async isOutdated(fence: number): Promise<boolean> {
    const lease = this.#lease;
    if (lease === null || lease.fence !== fence) return true;
    this.#doubt ??= this.#isLost(lease, fence).finally(() => {
      this.#doubt = null;
      // What was not sent meanwhile may go now.
      this.#changed();
    });
    return this.#doubt;
  }

  /** Another gateway may have it. Nothing is told from now on, also of a doubt that ends. */
  release(): Promise<void> {
    this.#changed = () => {};
    return this.#lease?.release() ?? Promise.resolve();
  }

  async #isLost(lease: Lease, fence: number): Promise<boolean> {
    const { clock } = this.#deps;
    while (lease.fence === fence) {
      if (await lease.confirm()) return false;
      await new Promise<void>((resolve) => void clock.after(ASK_AGAIN_MS, resolve));
    }
    return true;
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
