import type { Random } from "@farmgate/shared";

/** Ids for requests whose callers bring none: short, unique to this process. */
export class RequestIds {
  readonly #prefix: string;
  #count = 0;

  constructor(random: Random) {
    this.#prefix = `req_${Math.floor(random() * 36 ** 8)
      .toString(36)
      .padStart(8, "0")}`;
  }

  /** The caller's own id when it is a plain token, else a new one. */
  idFor(asked: string | string[] | undefined): string {
    return typeof asked === "string" && /^[\w.:-]{1,128}$/.test(asked) ? asked : this.next();
  }

  next(): string {
    this.#count += 1;
    return this.#prefix + this.#count.toString(36).padStart(4, "0");
  }
}
