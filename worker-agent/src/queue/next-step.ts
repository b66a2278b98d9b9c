import { longestWaiting } from "./greedy.ts";
import { waiters } from "./model-state.ts";
import type { ModelState, Waiter } from "./model-state.ts";
import type { Policy } from "./policy.ts";
import { isDue, keepUntil, mayClose } from "./turn.ts";
import type { Turn, TurnRules } from "./turn.ts";

/** How things stand, as far as the next step goes. */
export interface Standing {
  readonly turn: Turn | null;
  readonly swapping: boolean;
  /** Jobs granted and not yet done, of whatever model. */
  readonly running: number;
  readonly models: ReadonlyMap<string, ModelState>;
}

export type Step =
  /** Send the loaded model its next job. */
  | { do: "grant"; model: string; othersWait: boolean }
  /** Swap to the model; `cause` is for people. */
  | { do: "load"; model: string; cause: string }
  /** The loaded model has nothing left, but is kept until then. */
  | { do: "keep"; until: number }
  | { do: "wait" };

/**
 * What is to be done next:
 *
 * 1. a swap is under way, or nobody waits: wait for the next event;
 * 2. nothing is loaded: load what the policy names, once the answers of a lost engine have ended;
 * 3. the turn may close and another model is due (R4): no grant; when the running answers have ended, load the due
 *    model with the smallest `since`;
 * 4. the policy names the loaded model: grant, a `load` at once, a request when a slot is free;
 * 5. the loaded model has nothing left (R5): load the due model, else the one that the policy names, once nothing is
 *    running and the turn need not be kept any longer.
 *
 * A model that becomes due needs no tick: while answers run the next `done` looks, and with none running (5) is at
 * work already, whose end nobody's becoming due brings nearer.
 */
export function nextStep(standing: Standing, policy: Policy, rules: TurnRules, now: number): Step {
  const { turn, models } = standing;
  const line = standing.swapping ? [] : waiters(models.values());
  if (line.length === 0) return { do: "wait" }; // (1)
  const idle = standing.running === 0;
  const named = policy.next({ loaded: turn?.model ?? null, waiting: line });
  // A policy is anyone's to change: one that names a model nobody waits for is not followed.
  const next = line.find((model) => model.name === named)?.name ?? null;
  if (turn === null) return idle ? load(next, "nothing is loaded") : { do: "wait" }; // (2)
  const due = policy.strict ? null : closedFor(turn, line, rules, now);
  if (next === turn.model || !idle) {
    if (due !== null) return idle ? load(due, `${turn.model} has had its turn`) : { do: "wait" }; // (3)
    const model = models.get(turn.model);
    const ready = next === turn.model && model !== undefined && (model.queue.loads > 0 || model.running < model.slots);
    return ready ? { do: "grant", model: turn.model, othersWait: line.length > 1 } : { do: "wait" }; // (4)
  }
  const until = keepUntil(turn, rules, now);
  return now < until ? { do: "keep", until } : load(due ?? next, `${turn.model} has nothing left`); // (5)
}

function load(model: string | null, cause: string): Step {
  return model === null ? { do: "wait" } : { do: "load", model, cause };
}

/** The model that the turn is closed for, by rules R2 to R4; null: it stays open. */
function closedFor(turn: Turn, line: readonly Waiter[], rules: TurnRules, now: number): string | null {
  if (!mayClose(turn, rules, now)) return null;
  const due = line.filter((model) => model.name !== turn.model && isDue(model.from, turn, rules, now));
  return longestWaiting(due)?.name ?? null;
}
