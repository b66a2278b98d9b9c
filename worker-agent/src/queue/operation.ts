import type { ModelState } from "./model-state.ts";
import type { Turn } from "./turn.ts";

/**
 * One model on its way in (rule R8). First its victims' gates are shut and their last answers awaited; then the swap
 * begins, which ends the victims' turns.
 */
export interface Admission {
  readonly kind: "admission";
  readonly model: ModelState;
  /** Chosen once. One whose engine died meanwhile stays among them, until its last answers have ended. */
  readonly victims: ReadonlySet<ModelState>;
  /** Nobody waits for it. */
  readonly wished: boolean;
  /** For people. */
  readonly cause: string;
  /** When the swap began; null: its victims' last answers are awaited. */
  beganAt: number | null;
  /** The victims' turns, given back where the swap fails and the victim still stands. */
  readonly ended: Map<ModelState, Turn>;
  /** Chosen in the very event that is being taken in: it stands, so that no choice is made twice in one event. */
  fresh: boolean;
  /** The model's engine died while it was being loaded. */
  lost: boolean;
}

/** One idle model on its way out, with nothing to be loaded in its place. */
interface Unload {
  readonly kind: "unload";
  readonly model: ModelState;
  /** Given back where the unload fails and the model still stands; null: its engine died meanwhile. */
  turn: Turn | null;
}

/** What is under way; one at a time. */
export type Operation = Admission | Unload;

/** Whether the model is on its way in or out, so that it gets no grant. */
export function isGated(operation: Operation | null, model: ModelState): boolean {
  if (operation === null) return false;
  return operation.model === model || (operation.kind === "admission" && operation.victims.has(model));
}

/** Whether the operation has begun outside: it cannot be called off any more. */
export function hasBegun(operation: Operation | null): boolean {
  return operation !== null && (operation.kind === "unload" || operation.beganAt !== null);
}
