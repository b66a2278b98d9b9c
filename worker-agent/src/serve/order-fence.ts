import { FarmError, FENCE_MEMORY_MS, formatDuration, HEADER } from "@farmgate/shared";

/**
 * Of gateways that act as one, one at a time orders loads and unloads, and its orders carry a number that grows with
 * each that comes to do so (a fencing token: Kleppmann, "How to do distributed locking", 2016). So an order that was on
 * its way while another took over is known, and refused. Orders without a number are an operator's, or of a gateway that
 * is the only one.
 *
 * The highest number is forgotten `FENCE_MEMORY_MS` after the last order that carried it:
 *  - no sooner, since an order of an earlier holder was sent before a later one came to order, and is not on its way for
 *    so long;
 *  - no later, since a number may be too high: of somebody else who has a key, of a clock that was wrong, of a Redis that
 *    has lost what it had. It would refuse all others for good.
 *
 * No clock is looked at but how long ago that was, so those of gateways and agents may differ by whatever they like.
 */
export class OrderFence {
  #highest = 0;
  /** When an order last carried it. */
  #heardAt = 0;

  /**
   * Lets an order pass; `now` in milliseconds. Throws `stale_order` when one of a later holder came before,
   * `invalid_request` for what is no number.
   */
  pass(header: string | string[] | undefined, now: number): void {
    if (header === undefined) return;
    const fence = Number(header);
    if (!Number.isSafeInteger(fence) || fence < 1) {
      throw new FarmError("invalid_request", `${HEADER.fence} must be a whole number above 0.`);
    }
    const restMs = this.#heardAt + FENCE_MEMORY_MS - now;
    if (fence < this.#highest && restMs > 0) {
      throw new FarmError(
        "stale_order",
        `Another gateway gives the orders by now: ${fence} is below ${this.#highest}, which counts for ${formatDuration(restMs)} more.`,
      );
    }
    this.#highest = fence;
    this.#heardAt = now;
  }
}
