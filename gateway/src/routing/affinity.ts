import { LRUCache } from "lru-cache";
import type { PrefixHashes } from "./prefix-hashes.ts";

/** Conversations that are remembered, about 150 bytes each. */
const CONVERSATIONS = 20_000;

/**
 * Remembers which worker answered which conversation, so that its next turn finds the prefix still in that worker's
 * memory. A guess that helps: nothing breaks when it is forgotten or wrong.
 */
export class Affinity {
  readonly #workers = new LRUCache<string, string>({ max: CONVERSATIONS });

  /** The worker that gave the latest earlier answer of this conversation; null: none is remembered. */
  find(prefix: PrefixHashes): string | null {
    for (const hash of prefix.earlier) {
      const worker = this.#workers.get(hash);
      if (worker !== undefined) return worker;
    }
    return null;
  }

  /** The worker answers this conversation. */
  answered(prefix: PrefixHashes, worker: string): void {
    if (prefix.whole !== null) this.told(prefix.whole, worker);
  }

  /** The worker answers the conversation whose turns have this hash, as another gateway saw. */
  told(whole: string, worker: string): void {
    this.#workers.set(whole, worker);
  }
}
