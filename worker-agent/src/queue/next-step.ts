import { chooseVictims, fitsWithout } from "./admission.ts";
import { longestWaiting } from "./greedy.ts";
import { findReady, findRoom, type Waiter } from "./line.ts";
import { busyWith, isIdle, type ModelState } from "./model-state.ts";
import type { Models } from "./models.ts";
import { hasBegun, type Operation } from "./operation.ts";
import { type Candidate, type Rooms, RoomTimes } from "./room-times.ts";
import { hadBatch, mayCloseAt } from "./turn.ts";
import { nextWish } from "./wishes.ts";

/** How things stand, as far as the next step goes. */
export interface Standing extends Rooms {
  readonly models: Models;
  readonly operation: Operation | null;
  /** Loads that nobody waits for may begin. */
  readonly wishing: boolean;
}

export type Step =
  /** Send the model its next job. */
  | { do: "grant"; model: ModelState; othersWait: boolean }
  /** Let the model in: shut the victims' gates. `cause` is for people. */
  | { do: "admit"; model: ModelState; victims: readonly ModelState[]; wished: boolean; cause: string }
  /** The victims' answers have ended: begin the swap. */
  | { do: "swap" }
  /** Open the gates again. */
  | { do: "call off" }
  /** Whoever waits for the model waits in vain. */
  | { do: "refuse"; model: ModelState; reason: string }
  | { do: "forget"; model: ModelState }
  | { do: "unload"; model: ModelState; reason: string }
  /** Nothing before the next event; `until`: time alone changes something then, null: never. */
  | { do: "wait"; until: number | null };

/**
 * What is to be done next:
 *
 * 1. a model is on its way in and its swap has not begun:
 *    1. nobody waits for it any more, or its victims are no longer enough or may not go: call it off;
 *    2. the victims' answers have ended: swap;
 * 2. somebody waits for a model that can never be loaded: refuse it;
 * 3. nothing is under way and models have waited `maxWait`: let the one with the smallest `since` in, once there is or
 *    can be made room for it, and until then no other (R2, R4, R8);
 * 4. nothing is under way and a turn that may close has had `maxBatch` grants besides others: let in the model with the
 *    smallest `since` for which there is or can be made room;
 * 5. the policy names a loaded model that is ready: grant; or one that there is room for: let it in (R5);
 * 6. nothing is under way: let in a model that nobody waits for but that is to be loaded;
 * 7. nothing is under way: unload a model that was idle for its `ttl`;
 * 8. wait, at the longest until time alone makes room for somebody, or a model's `ttl` is over.
 */
export function nextStep(at: Standing, now: number): Step {
  const begun = onItsWay(at);
  if (begun !== null) return begun; // (1)
  const { rules, policy, operation } = at;
  const line = at.models.line;
  findReady(line, operation);
  const cold = operation === null ? line.filter(({ model }) => model.turn === null) : [];
  const times = new RoomTimes(at, false);
  const refused = inVain(cold, times);
  if (refused !== null) return refused; // (2)
  const overdue = policy.due ? longestWaiting(cold, ({ from }) => now >= from + rules.maxWait) : null;
  // While one is overdue no other is let in, and there are hundreds for which room need not be looked for.
  const coming = overdue === null ? cold : [overdue];
  findRoom(coming, times, now);
  if (overdue?.state === "cold") return admit(overdue, at, now); // (3)
  if (policy.due && overdue === null && hadItsBatch(at, now)) {
    const next = longestWaiting(cold, ({ state }) => state === "cold");
    if (next !== null) return admit(next, at, now); // (4)
  }
  const named = policy.next({ waiting: line });
  // A policy is anyone's to change: one that names a model nobody waits for, or one that is blocked, is not followed.
  const next = named === null ? undefined : line.find(({ name }) => name === named);
  if (next?.state === "ready") return { do: "grant", model: next.model, othersWait: othersWait(line) }; // (5)
  if (next?.state === "cold") return admit(next, at, now);
  const until = soonestRoom(coming, now);
  if (operation !== null || overdue !== null) return wait(until);
  return unasked(at, line, until, now); // (6), (7), (8)
}

function onItsWay(at: Standing): Step | null {
  const { operation } = at;
  if (operation?.kind !== "admission" || hasBegun(operation)) return null;
  const { model, victims, wished, fresh } = operation;
  const wanted = model.turn === null && !model.gone && (wished || model.queue.size > 0);
  const standing = [...victims].every(({ rules }) => !rules.pinned);
  if (!fresh && (!wanted || !standing || !fitsWithout(model, victims, at))) return { do: "call off" }; // (1.1)
  return [...victims].every((victim) => busyWith(victim) === 0) ? { do: "swap" } : null; // (1.2)
}

function inVain(cold: readonly Waiter[], times: RoomTimes): Step | null {
  for (const { model } of cold) {
    const reason = model.neverFits ?? (times.bars(model) ? "what is loaded cannot be unloaded for it" : null);
    if (reason !== null) return { do: "refuse", model, reason };
  }
  return null;
}

function hadItsBatch({ present, rules }: Standing, now: number): boolean {
  for (const { turn, rules: model } of present) {
    if (turn !== null && !model.pinned && hadBatch(turn, rules) && mayCloseAt(turn, rules) <= now) return true;
  }
  return false;
}

function othersWait(line: readonly Waiter[]): boolean {
  return line.some(({ model }) => model.turn === null);
}

/** (6), (7), (8) */
function unasked(at: Standing, line: readonly Waiter[], room: number, now: number): Step {
  const wish = at.wishing ? nextWish(at.models, at, othersWait(line), now) : null;
  if (wish?.do === "admit") return admit(wish.candidate, at, now, { cause: wish.cause });
  if (wish?.do === "forget") return wish;
  let until = Math.min(room, wish?.until ?? Number.POSITIVE_INFINITY);
  for (const model of at.present) {
    const { pinned, ttl, unloads } = model.rules;
    if (model.turn === null || pinned || ttl === 0 || !unloads || !isIdle(model)) continue;
    if (now >= model.quietSince + ttl) return { do: "unload", model, reason: `${model.name} was idle for its ttl` };
    until = Math.min(until, model.quietSince + ttl);
  }
  return wait(until);
}

function admit(candidate: Candidate, at: Standing, now: number, wish?: { cause: string }): Step {
  const { model } = candidate;
  const wished = wish !== undefined;
  const victims = chooseVictims(candidate, wished, at, now);
  return { do: "admit", model, victims, wished, cause: wish?.cause ?? causeOf(victims, at) };
}

function causeOf(victims: readonly ModelState[], at: Standing): string {
  const names = victims.map(({ name }) => name).join(", ");
  const [has, its] = victims.length > 1 ? ["have", "their"] : ["has", "its"];
  if (victims.length > 0)
    return victims.every(isIdle) ? `${names} ${has} nothing left` : `${names} ${has} had ${its} turn`;
  const beside = [...at.present].map(({ name }) => name).join(", ");
  return beside === "" ? "nothing is loaded" : `it fits beside ${beside}`;
}

/** When the mere passing of time makes room for one of them; infinite: never. */
function soonestRoom(waiters: readonly Waiter[], now: number): number {
  let soonest = Number.POSITIVE_INFINITY;
  for (const { roomAt } of waiters) if (roomAt > now && roomAt < soonest) soonest = roomAt;
  return soonest;
}

function wait(until: number): Step {
  return { do: "wait", until: Number.isFinite(until) ? until : null };
}
