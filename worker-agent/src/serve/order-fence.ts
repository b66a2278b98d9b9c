import { FarmError, FENCE_AHEAD_MS, formatDuration, HEADER } from "@farmgate/shared";

/**
 * Of gateways that act as one, one at a time orders loads and unloads, and its orders carry a number that grows with
 * each that comes to do so (a fencing token: Kleppmann, "How to do distributed locking", 2016). So an order that was on
 * its way while another took over is known, and refused. Orders without a number are an operator's, or of a gateway that
 * is the only one.
 *
 * A number is the wall time in milliseconds when its holder came to order, or little more. One of a time that is far from
 * having come is no holder's: remembered, it would refuse all orders until then.
 */
export class OrderFence {
  #highest = 0;

  /**
   * Lets an order pass; `wall` in milliseconds. Throws `stale_order` when one of a later holder came before,
   * `invalid_request` for what no holder can have.
   */
  pass(header: string | string[] | undefined, wall: number): void {
    if (header === undefined) return;
    const fence = Number(header);
    if (!Number.isSafeInteger(fence) || fence < 1) {
      throw new FarmError("invalid_request", `${HEADER.fence} must be a whole number above 0.`);
    }
    if (fence > wall + FENCE_AHEAD_MS) {
      throw new FarmError(
        "invalid_request",
        `${HEADER.fence} is a time more than ${formatDuration(FENCE_AHEAD_MS)} ahead of this machine's clock.`,
      );
    }
    if (fence < this.#highest) {
      throw new FarmError(
        "stale_order",
        `Another gateway gives the orders by now: ${fence} is below ${this.#highest}.`,
      );
    }
    this.#highest = fence;
  }
}
