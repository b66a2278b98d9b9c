/** Who holds what only one may do. Who asked first has it until it gives it up; then the next. */
export class LeaseBook {
  readonly #leases = new Map<string, { waiting: string[]; fence: number }>();
  #fence: number;

  /** Fences grow from `fence` on. */
  constructor(fence: number) {
    this.#fence = fence;
  }

  /** Asking twice is asking once. */
  ask(name: string, member: string): void {
    const lease = this.#leases.get(name);
    if (lease === undefined) this.#leases.set(name, { waiting: [member], fence: this.#next() });
    else if (!lease.waiting.includes(member)) lease.waiting.push(member);
  }

  giveUp(name: string, member: string): void {
    const lease = this.#leases.get(name);
    if (lease === undefined) return;
    const held = lease.waiting[0] === member;
    lease.waiting = lease.waiting.filter((other) => other !== member);
    if (lease.waiting.length === 0) this.#leases.delete(name);
    else if (held) lease.fence = this.#next();
  }

  giveUpAll(member: string): void {
    for (const name of this.#leases.keys()) this.giveUp(name, member);
  }

  /** The fences of what this member holds, by name. */
  heldBy(member: string): Map<string, number> {
    const held = new Map<string, number>();
    for (const [name, { waiting, fence }] of this.#leases) if (waiting[0] === member) held.set(name, fence);
    return held;
  }

  #next(): number {
    this.#fence += 1;
    return this.#fence;
  }
}
