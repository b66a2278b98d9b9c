import { createHash } from "node:crypto";
import type { PollResult } from "@farmgate/engines";

/** What of a poll is told: its hash, and the rest where it is not what was known last. */
export interface HashedPoll {
  hash: string;
  result: PollResult | null;
}

/** The last poll that is known of each worker, so that a catalogue that stays the same is told once. */
export class KnownPolls {
  readonly #last = new Map<string, { hash: string; result: PollResult }>();

  /** A poll made here, as it is to be told. */
  made(worker: string, result: PollResult): HashedPoll {
    const hash = createHash("sha256").update(JSON.stringify(result)).digest("base64").slice(0, 22);
    const isKnown = this.#last.get(worker)?.hash === hash;
    if (!isKnown) this.#last.set(worker, { hash, result });
    return { hash, result: isKnown ? null : result };
  }

  /** A poll that was told; null: what it stands for is not known here. */
  told(worker: string, { hash, result }: HashedPoll): PollResult | null {
    if (result !== null) {
      this.#last.set(worker, { hash, result });
      return result;
    }
    const last = this.#last.get(worker);
    return last?.hash === hash ? last.result : null;
  }

  /** Forgets every worker that is not in `workers`. */
  keepOnly(workers: ReadonlySet<string>): void {
    for (const worker of this.#last.keys()) if (!workers.has(worker)) this.#last.delete(worker);
  }
}
