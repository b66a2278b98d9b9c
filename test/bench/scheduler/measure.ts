// (f) What one event costs the worker agent's scheduler while very many jobs wait.
import { seededRandom } from "@farmgate/shared";
import type { Plan } from "../plan.ts";
import { median, medianRatio } from "../report/median.ts";
import { interleave } from "../scenarios/interleave.ts";
import { Crowd, type CrowdSize } from "./crowd.ts";

/** In the order in which a round goes through them; `done` grants as many as `refill` brings. */
const KINDS = ["arrive", "tick", "leave", "done", "refill"] as const;
const MODELS = [1, 20, 400];
/** Gigabytes: one model at a time, and about six of 11 GB. */
const BUDGETS = [0, 64];
const SHORT_QUEUE = 10;
const AT_ONCE = 10;

export type EventKind = Exclude<(typeof KINDS)[number], "refill"> | "mean";

/** Microseconds of CPU per event. */
export interface Cost {
  micros: number;
  /** To the same event with ten jobs in the queue. */
  ratio: number;
}

export interface SchedulerRow extends CrowdSize {
  costs: Record<EventKind, Cost>;
}

export async function measureScheduler(plan: Pick<Plan, "scheduler">): Promise<SchedulerRow[]> {
  const { queued, events, ...rounds } = plan.scheduler;
  const rows: SchedulerRow[] = [];
  for (const budget of BUDGETS) {
    for (const models of MODELS) {
      const crowds = { short: crowdOf(models, budget, SHORT_QUEUE), long: crowdOf(models, budget, queued) };
      const { short, long } = await interleave(["short", "long"], rounds, async (name) => once(crowds[name], events));
      const costOf = (kind: EventKind) => {
        const micros = long.map((round) => round[kind]);
        const base = short.map((round) => round[kind]);
        return { micros: median(micros), ratio: medianRatio(micros, base) };
      };
      const costs = {
        arrive: costOf("arrive"),
        done: costOf("done"),
        leave: costOf("leave"),
        tick: costOf("tick"),
        mean: costOf("mean"),
      };
      rows.push({ models, budget, queued, costs });
    }
  }
  return rows;
}

function crowdOf(models: number, budget: number, queued: number): Crowd {
  return new Crowd({ models, budget, queued }, seededRandom(models + budget));
}

/** A round: so many events of each kind, a few of a kind at a time, so that always about as many wait. */
function once(crowd: Crowd, events: number): Record<EventKind, number> {
  const size = crowd.waiting;
  const micros = { arrive: 0, tick: 0, leave: 0, done: 0, refill: 0 };
  let refilled = 0;
  for (let served = 0; served < events; served += AT_ONCE) {
    for (const kind of KINDS) {
      const times = kind === "refill" ? Math.max(0, size - crowd.waiting) : AT_ONCE;
      // Time of the processor, which a busy machine lengthens less than that of the clock.
      const before = process.cpuUsage();
      for (let event = 0; event < times; event += 1) crowd[kind === "refill" ? "arrive" : kind]();
      const { user, system } = process.cpuUsage(before);
      micros[kind] += user + system;
      if (kind === "refill") refilled += times;
    }
  }
  const { arrive, tick, leave, done, refill } = micros;
  const sum = arrive + tick + leave + done + refill;
  const each = { arrive: (arrive + refill) / (events + refilled), tick: tick / events, leave: leave / events };
  return { ...each, done: done / events, mean: sum / (4 * events + refilled) };
}
