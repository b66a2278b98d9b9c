import { mean } from "../figures/means.ts";

/** After so many milliseconds a peer's speed is measured anew: its line, or what else it does, may have changed. */
const KNOWN_FOR = 3_600_000;
/**
 * A whole file of less than this tells of how a connection starts; what broke off before this and within that tells of a
 * fault on this side. A trial ends beyond both.
 */
const LEAST_BYTES = 16 * 1_024 ** 2;
const LEAST_MS = 1_000;

/** How fast files came from each peer, as decayed means by its address. Time is an argument. */
export class PeerRates {
  readonly #rates = new Map<string, { bytesPerSecond: number; at: number }>();

  /** Bytes a second; null: not known, or not any more. 0: nothing came when it was asked. */
  of(url: string, now: number): number | null {
    const known = this.#rates.get(url);
    return known === undefined || now - known.at > KNOWN_FOR ? null : known.bytesPerSecond;
  }

  /** So many bytes came within `ms`, up to now. `isAll`: that was all there was to come. */
  came(url: string, { bytes, ms, isAll }: { bytes: number; ms: number; isAll: boolean }, now: number): void {
    if (bytes < LEAST_BYTES && (isAll || ms < LEAST_MS)) return;
    const bytesPerSecond = mean(this.of(url, now), (1_000 * bytes) / Math.max(1, ms));
    this.#rates.set(url, { bytesPerSecond, at: now });
  }
}
