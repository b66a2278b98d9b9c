import type { IncomingHttpHeaders } from "node:http";
import type { Random } from "@farmgate/shared";
import { givenRequestId } from "@farmgate/wire";

/** Ids for requests whose callers bring none: short, unique to this process. */
export class RequestIds {
  readonly #prefix: string;
  #count = 0;

  constructor(random: Random) {
    this.#prefix = `req_${Math.floor(random() * 36 ** 8)
      .toString(36)
      .padStart(8, "0")}`;
  }

  /** The caller's own id when it brings a good one, else a new one. */
  idFor(headers: IncomingHttpHeaders): string {
    return givenRequestId(headers) ?? this.next();
  }

  next(): string {
    this.#count += 1;
    return this.#prefix + this.#count.toString(36).padStart(4, "0");
  }
}
