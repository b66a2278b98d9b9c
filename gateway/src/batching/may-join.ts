import type { BodyBytes } from "@farmgate/shared";
import type { BatchRules } from "./open-batches.ts";
import { type ReadInputs, readInputs } from "./read-inputs.ts";

/** A request as far as it decides with which others it goes. */
export interface Joining {
  api: string;
  body: BodyBytes;
  /** Path with query. */
  target: string;
  /** The key's name; empty without keys. */
  caller: string;
  priority: string | null;
  hasDeadline: boolean;
  hops: number;
  via: string | undefined;
}

export interface MayJoin {
  /** Requests of one key may go together. */
  key: string;
  read: ReadInputs;
}

/**
 * Whether a request may be joined with others, and with which; null: it goes alone.
 * (1) Embeddings only. (2) One that has a deadline waits for nobody, and the others are not ended by it. (3) A large
 * one, or one with many inputs, gains nothing. (4) Its inputs can stand beside others (`readInputs`).
 * (5) Together go those who say the same of everything but the inputs, and who are the same to the farm: of one key,
 * whose models and place in a worker's queue then hold for all of them, of one priority, come by the same gateways.
 */
export function mayJoin(joining: Joining, rules: BatchRules): MayJoin | null {
  const { api, body, target, caller, priority, hasDeadline, hops, via } = joining;
  if (api !== "embeddings" || hasDeadline) return null; // (1) (2)
  if (body.length >= rules.bytes) return null; // (3)
  const read = readInputs(body.joined()); // (4)
  if (read === null || read.inputs.length >= rules.inputs) return null; // (3)
  const key = JSON.stringify([target, caller, priority, hops, via ?? null, read.kind, read.rest]); // (5)
  return { key, read };
}
