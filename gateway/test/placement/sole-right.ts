import type { OrderRight } from "../../src/together/placing-lease.ts";

/** Of a gateway that is the only one. */
export const soleRight: OrderRight = { isHeld: true, fence: null, isOutdated: () => Promise.resolve(true) };
