import { greedy } from "./greedy.ts";
import type { Policy } from "./policy.ts";

/**
 * Collation without bound, as llama-swap has it (`queue.policy: collate`), for comparison: the greedy choice without
 * its guard rails. Whatever waits for a loaded model is served first, however long others wait for theirs; then the
 * model that has waited longest is loaded.
 */
export const collate: Policy = { next: (line) => greedy.next(line), due: false, strict: false };
