import type { Policy } from "../../src/queue/policy.ts";
import type { Costs, Job, ModelRules, SchedulerRules } from "../../src/queue/types.ts";

/** A job of a workload, with what the world does to it. Times in virtual milliseconds. */
export interface Arrival extends Partial<Omit<Job, "model" | "id">> {
  at: number;
  id: string;
  model: string;
  /** How long its answer runs; 100 unless said. */
  answerMs?: number;
  /** When its caller leaves, wherever the job is then. */
  leaveAt?: number;
}

export interface Workload {
  rules: SchedulerRules;
  policy?: Policy;
  costs?: Costs;
  /** The models found loaded at time 0. */
  found?: string | readonly string[];
  loadMs: number | ((model: string) => number);
  arrivals: readonly Arrival[];
  /** Whether the load of this model fails; `attempt` counts from 1 per model. */
  fails?: (model: string, attempt: number) => boolean;
  /** Of the victims of a swap that failed, those that stand after all. */
  still?: (victims: readonly string[]) => readonly string[];
  /** Milliseconds of an unload; 10 unless said. */
  unloadMs?: number;
  /** How the unload fails, if it does; `attempt` counts from 1 over all models. */
  unloadFails?: (model: string, attempt: number) => "still" | "gone" | null;
  /** When the engine of this model, or of the one loaded first, then dies. */
  lostAt?: readonly (number | { at: number; model: string })[];
  /** When an engine loads a model by its own will. */
  foundAt?: readonly { at: number; model: string }[];
  /** When an operator orders a model out. */
  unloadAt?: readonly { at: number; model: string }[];
  /** When the list of models changes to this. */
  lists?: readonly { at: number; models: readonly ModelRules[] }[];
  /** The first tick, with which models that nobody waits for begin to be loaded. */
  startAt?: number;
  /** How the scheduler's clock jumps. */
  jumps?: readonly { at: number; by: number }[];
  /** How late each tick is. */
  tickLateMs?: number;
  /** Ticks that nobody asked for, each so many milliseconds up to the last arrival. */
  extraTickMs?: number;
}

/** Default rules with these models; slots as given. */
export function rulesFor(models: Record<string, number>, over: Partial<SchedulerRules> = {}): SchedulerRules {
  return {
    maxBatch: 64,
    maxWait: 60_000,
    minResident: 0,
    maxDepth: 1_000_000,
    failureLimit: 3,
    failureReset: 300_000,
    budget: 0,
    models: Object.entries(models).map(([name, slots]) => modelRules(name, { slots })),
    ...over,
  };
}

export function modelRules(name: string, over: Partial<ModelRules> = {}): ModelRules {
  const plain = { memory: null, pinned: false, ttl: 0, preload: false, restart: false, unloads: true };
  return { name, slots: 1, ...plain, ...over };
}

/** Requests that arrive all at once, numbered as in "1 chat, 2 code". */
export function atOnce(at: number, models: readonly string[], answerMs = 100): Arrival[] {
  return models.map((model, index) => ({ at, id: String(index + 1), model, answerMs }));
}
