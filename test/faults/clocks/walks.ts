import type { Random } from "@farmgate/shared";
import { takeRequest } from "../../../shared/src/request-rate.ts";
import { DrainRate } from "../../../gateway/src/admission/drain-rate.ts";
import { RetryBudget } from "../../../gateway/src/proxy/retry-budget.ts";
import { afterFault, type Breaker, mayAsk } from "../../../gateway/src/routing/breaker.ts";
import { FailureBudget } from "../../../worker-agent/src/queue/failure-budget.ts";
import { pollWalk } from "./poll-walk.ts";

/** Tells the problems that it meets on its way of so many steps. */
export type Walk = (random: Random, steps: number) => Iterable<string>;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** The longest that the deciders set anything aside, in milliseconds. */
const LONGEST_BREAK_MS = 300_000;
const LONGEST_REFUSAL_MS = 3_600_000;
/** Of the retry budget, in seconds. */
const WINDOW_S = 10;

export const walks: Readonly<Record<string, Walk>> = {
  breaker: breakerWalk,
  "failed loads": failedLoads,
  "retry budget": retries,
  "request rate": requestRate,
  "drain rate": drainRate,
  "polls and catalogue": pollWalk,
};

function jump(now: number, random: Random): number {
  if (random() < 0.8) return now + Math.round(random() * MINUTE_MS);
  return now + Math.round((random() - 0.5) * 20 * DAY_MS);
}

function* breakerWalk(random: Random, steps: number): Generator<string> {
  let now = 0;
  let breaker: Breaker | undefined;
  for (let step = 0; step < steps; step += 1) {
    const sentAt = now;
    now = jump(now, random);
    const before: number | null = breaker?.openUntil ?? null;
    const fault = { model: "m", sentAt, stalled: random() < 0.5, broke: random() < 0.3, reason: "" };
    breaker = afterFault(breaker, fault, now, null);
    const { openUntil } = breaker;
    if (openUntil === null) continue;
    if (openUntil !== before && openUntil - now > LONGEST_BREAK_MS) yield "a breaker opens for too long";
    if (!mayAsk(breaker, openUntil)) yield "an open breaker is due for no trial";
  }
}

function* failedLoads(random: Random, steps: number): Generator<string> {
  let now = 0;
  const budget = new FailureBudget({ failureLimit: 3, failureReset: 300_000 });
  for (let step = 0; step < steps; step += 1) {
    now = jump(now, random);
    budget.attempt(now);
    if (random() < 0.5) budget.failed(now);
    const refused = budget.refusedFor(now);
    if (!(refused >= 0 && refused <= LONGEST_REFUSAL_MS)) yield `a model is refused for ${refused} ms`;
    if (budget.refusedFor(now + refused) !== 0) yield "a refused model is never tried again";
    if (random() < 0.1) budget.succeeded();
  }
}

function* retries(random: Random, steps: number): Generator<string> {
  let now = 0;
  const budget = new RetryBudget();
  for (let step = 0; step < steps; step += 1) {
    now = jump(now, random);
    budget.arrived(now);
    for (let n = random() * 150; n > 0; n -= 1) budget.take(0.2, 1, now);
    const roomInS = budget.roomInS(now);
    if (!(roomInS >= 1 && roomInS <= WINDOW_S)) yield `a retry has room in ${roomInS} s`;
    now += WINDOW_S * 1_000;
    if (!budget.take(0.2, 1, now)) yield "a retry is refused behind a quiet window";
  }
}

function* requestRate(random: Random, steps: number): Generator<string> {
  let now = 0;
  let fullAt: number | undefined;
  const perMinute = 1 + Math.floor(random() * 100);
  for (let step = 0; step < steps; step += 1) {
    now = jump(now, random);
    const next = takeRequest(fullAt, now, perMinute);
    fullAt = next.fullAt;
    if (next.retryMs > MINUTE_MS || next.resetMs > MINUTE_MS) yield `a key is refused for ${next.retryMs} ms`;
    if (next.remaining < 0 || next.remaining > perMinute) yield `${next.remaining} of ${perMinute} requests remain`;
    if (!next.taken && !takeRequest(fullAt, now + next.retryMs, perMinute).taken)
      yield "a key is refused when told to come";
  }
}

function* drainRate(random: Random, steps: number): Generator<string> {
  let now = 0;
  const rate = new DrainRate();
  for (let step = 0; step < steps; step += 1) {
    now = jump(now, random);
    for (let n = 0; n < 10; n += 1) rate.ended((now += 100), 50);
    const perSecond = rate.perSecond(now);
    // Ten in a second, or a little less, and nothing, or as much, in the seconds before.
    if (!(perSecond !== null && perSecond > 0 && perSecond <= 12)) yield `${perSecond} a second end of ten`;
  }
}
