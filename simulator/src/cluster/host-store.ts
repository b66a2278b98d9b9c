/** From where weights come. `fork`: from a device of another instance; `peer`: from another host's memory. */
export type LoadSource = "fork" | "peer" | "host" | "disk";

/** The weights that a host's memory keeps, the least lately used go first; and the queue before its disk. */
export class HostStore {
  /** When its disk has read all that was asked of it so far, in virtual milliseconds. */
  diskFreeAt = 0;
  readonly #capacity: number;
  #held = 0;
  /** Bytes by application, the least lately used first. */
  readonly #copies = new Map<number, number>();

  constructor(capacityBytes: number) {
    this.#capacity = capacityBytes;
  }

  get heldBytes(): number {
    return this.#held;
  }

  has(app: number): boolean {
    return this.#copies.has(app);
  }

  /** Puts it in, or makes it the most lately used; what is larger than the whole memory is not kept. */
  keep(app: number, bytes: number): void {
    if (bytes > this.#capacity) return;
    this.#drop(app);
    for (const oldest of this.#copies.keys()) {
      if (this.#held + bytes <= this.#capacity) break;
      this.#drop(oldest);
    }
    this.#copies.set(app, bytes);
    this.#held += bytes;
  }

  #drop(app: number): void {
    this.#held -= this.#copies.get(app) ?? 0;
    this.#copies.delete(app);
  }
}
