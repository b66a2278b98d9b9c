import type { CancelTimer, Clock } from "@farmgate/shared";
import type { Lease } from "../hub.ts";

/** What is asked of Redis for a lease; neither rejects. */
export interface LeaseCalls {
  giveUp(name: string): Promise<void>;
  /** Whether Redis says that this member holds it, by this fence. */
  isHeld(name: string, fence: number): Promise<boolean>;
}

class HeldLease implements Lease {
  readonly #clock: Clock;
  readonly #giveUp: () => Promise<void>;
  readonly #isHeld: (fence: number) => Promise<boolean>;
  readonly #listeners: (() => void)[] = [];
  #fence: number | null = null;
  #until = 0;
  #stopTimer: CancelTimer = () => {};
  #released: Promise<void> | null = null;

  constructor(clock: Clock, giveUp: () => Promise<void>, isHeld: (fence: number) => Promise<boolean>) {
    this.#clock = clock;
    this.#giveUp = giveUp;
    this.#isHeld = isHeld;
  }

  get fence(): number | null {
    return this.#clock.now() < this.#until ? this.#fence : null;
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  async confirm(): Promise<boolean> {
    const { fence } = this;
    return fence !== null && (await this.#isHeld(fence)) && this.fence === fence;
  }

  release(): Promise<void> {
    this.#released ??= (() => {
      this.#stopTimer();
      this.#fence = null;
      return this.#giveUp();
    })();
    return this.#released;
  }

  /** It is held until then, unless it is renewed before; null: it is not. */
  set(fence: number | null, until: number): void {
    if (this.#released !== null) return;
    this.#stopTimer();
    this.#until = until;
    if (fence !== null) this.#stopTimer = this.#clock.after(until - this.#clock.now(), () => this.set(null, 0));
    if (fence === this.#fence) return;
    this.#fence = fence;
    for (const listener of this.#listeners) listener();
  }
}

/** The leases that this member asks for. Each heartbeat asks again, and renews what is held. */
export class Leases {
  readonly #clock: Clock;
  readonly #calls: LeaseCalls;
  readonly #leases = new Map<string, HeldLease>();

  constructor(clock: Clock, calls: LeaseCalls) {
    this.#clock = clock;
    this.#calls = calls;
  }

  lease(name: string): Lease {
    const giveUp = () => {
      this.#leases.delete(name);
      return this.#calls.giveUp(name);
    };
    const lease = new HeldLease(this.#clock, giveUp, (fence) => this.#calls.isHeld(name, fence));
    this.#leases.set(name, lease);
    return lease;
  }

  names(): string[] {
    return [...this.#leases.keys()];
  }

  /** The fences of these names in turn, 0 for who does not hold it; held until then at least. */
  renewed(names: readonly string[], fences: readonly number[], until: number): void {
    for (const [i, name] of names.entries()) this.#leases.get(name)?.set(fences[i] || null, until);
  }

  lost(): void {
    for (const lease of this.#leases.values()) lease.set(null, 0);
  }
}
