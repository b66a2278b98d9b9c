import { collate } from "./collate.ts";
import { fifo } from "./fifo.ts";
import { greedy } from "./greedy.ts";
import type { Policy } from "./policy.ts";

/** By their name in the configuration (`queue.policy`). */
export const POLICIES: Readonly<Record<"greedy" | "fifo" | "collate", Policy>> = { greedy, fifo, collate };
