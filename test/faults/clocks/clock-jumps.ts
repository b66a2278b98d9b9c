import { type Random, seededRandom } from "@farmgate/shared";
import { afterFault, type Breaker, mayAsk } from "../../../gateway/src/routing/breaker.ts";
import { FailureBudget } from "../../../worker-agent/src/queue/failure-budget.ts";

const WALKS = 500;
const STEPS = 60;
const DAY_MS = 86_400_000;
/** The longest that the deciders set anything aside, in milliseconds. */
const LONGEST_BREAK_MS = 300_000;
const LONGEST_REFUSAL_MS = 3_600_000;

/**
 * Deciders that are told a time which jumps, forward and back by up to ten days: whatever they set aside is free again
 * once the time that they named has come, and no pause grows by a jump.
 */
export function clockFaults(seed: number): { told: string[]; broken: string[] } {
  const random = seededRandom(seed);
  const broken = new Set<string>();
  for (let walk = 0; walk < WALKS; walk += 1) {
    for (const problem of [...breakerWalk(random), ...budgetWalk(random)]) broken.add(`clock jumps: ${problem}`);
  }
  const told = [`clock jumps: ${WALKS} walks of ${STEPS} steps, breaker and failed loads: ${broken.size} problems`];
  return { told, broken: [...broken] };
}

function jump(now: number, random: Random): number {
  if (random() < 0.8) return now + Math.round(random() * 60_000);
  return now + Math.round((random() - 0.5) * 20 * DAY_MS);
}

function* breakerWalk(random: Random): Generator<string> {
  let now = 0;
  let breaker: Breaker | undefined;
  for (let step = 0; step < STEPS; step += 1) {
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

function* budgetWalk(random: Random): Generator<string> {
  let now = 0;
  const budget = new FailureBudget({ failureLimit: 3, failureReset: 300_000 });
  for (let step = 0; step < STEPS; step += 1) {
    now = jump(now, random);
    budget.attempt(now);
    budget.failed(now);
    const refused = budget.refusedFor(now);
    if (!(refused >= 0 && refused <= LONGEST_REFUSAL_MS)) yield `a model is refused for ${refused} ms`;
    if (budget.refusedFor(now + refused) !== 0) yield "a refused model is never tried again";
    if (random() < 0.1) budget.succeeded();
  }
}
