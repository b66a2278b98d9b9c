/** Keys and channels of a farm. One hash tag for all of them, so that a cluster keeps them on one node. */
export class FarmKeys {
  readonly members: string;
  /** When the records were begun anew; missing: they are lost. */
  readonly epoch: string;
  /** Before a member's id: what it has under way. */
  readonly record: string;
  /** Everybody hears it. */
  readonly news: string;
  readonly #prefix: string;
  readonly #channels: string;

  /** Channels do not belong to a database: its number tells two farms of one name apart. */
  constructor(farm: string, db: number) {
    this.#prefix = `farmgate:{${farm}}:`;
    this.#channels = db === 0 ? this.#prefix : `${this.#prefix}${db}:`;
    this.members = `${this.#prefix}members`;
    this.epoch = `${this.#prefix}epoch`;
    this.record = `${this.#prefix}member:`;
    this.news = `${this.#channels}news`;
  }

  recordOf(member: string): string {
    return this.record + member;
  }

  /** Where answers to a member's questions go. */
  answersTo(member: string): string {
    return `${this.#channels}to:${member}`;
  }

  rate(caller: string): string {
    return `${this.#prefix}rate:${caller}`;
  }

  /** Who holds it, and the number of its last holder, which outlives it. */
  lease(name: string): [holder: string, fence: string] {
    return [`${this.#prefix}lease:${name}`, `${this.#prefix}fence:${name}`];
  }
}
