/**
 * An agent refuses orders with a number below the highest that it had within so many milliseconds. Longer than an order
 * of an earlier holder can be on its way: the gateway ends one that is not answered after 10 minutes, and a system goes on
 * for some 6 more to send what it was handed (Linux: `tcp_orphan_retries`, twice the longest pause apart at the end).
 */
export const FENCE_MEMORY_MS = 1_200_000;
