import { capacityDeviation, capacityPrior, FLOOR } from "./capacity-prior.ts";
import type { Fitness } from "./drift.ts";
import { type LearnedNotes, LearnedValue } from "./learned-value.ts";
import { isLoad, loadInput, loadOf } from "./load-input.ts";
import { fullFacts, USUAL_DEVICE } from "./model-facts.ts";
import type { OracleOptions } from "./options.ts";
import type { CapacityView, ModelLoad, Prediction, ResourcePredictions, Resources } from "./types.ts";

const NAMES = ["memory", "compute", "bandwidth"] as const;

/** Of one model. */
export type CapacityNotes = Readonly<Record<keyof Resources, LearnedNotes>>;

/**
 * Capacity: how a model is asked -> what it takes, learned from what was measured. Each of the three is learned as a
 * logarithm, apart from what the model's size lets expect: errors are in proportion, and nothing is below zero.
 */
export class CapacityOracle implements CapacityView {
  readonly #options: OracleOptions;
  readonly #models = new Map<string, Record<keyof Resources, LearnedValue>>();
  /** Notes of models that were not met since: what they are taken for at first is known by then, and it takes its time. */
  readonly #saved: Map<string, CapacityNotes>;

  constructor(options: OracleOptions, notes: ReadonlyMap<string, CapacityNotes> = new Map()) {
    this.#options = options;
    this.#saved = new Map(notes);
  }

  /** Throws RangeError for a load that is none (see `isLoad`). */
  predict(model: string, load: ModelLoad): ResourcePredictions {
    if (!isLoad(load)) throw new RangeError("a load has finite figures from 0");
    const input = loadInput(load);
    const values = this.#known(model) ?? this.#start(model, null);
    return {
      memory: fromLog(values.memory.predict(input), FLOOR.memory),
      compute: fromLog(values.compute.predict(input), FLOOR.compute),
      bandwidth: fromLog(values.bandwidth.predict(input), FLOOR.bandwidth),
    };
  }

  /** Learns from one measurement. False, and nothing is learned: a figure is not finite, below zero or beyond what a farm can have. */
  observe(model: string, load: ModelLoad, measured: Resources): boolean {
    if (!isLoad(load) || !NAMES.every((name) => measured[name] >= 0 && measured[name] < 1e18)) return false;
    const values = this.#known(model) ?? this.#start(model, null);
    this.#models.set(model, values);
    const input = loadInput(load);
    for (const name of NAMES) values[name].observe(input, Math.log(measured[name] + FLOOR[name]));
    return true;
  }

  /** The worst of its three. */
  fitness(model: string): Fitness {
    const all = Object.values(this.#known(model) ?? {}).map(({ fitness }) => fitness);
    return all.includes("wrong") ? "wrong" : all.includes("drifting") ? "drifting" : "fits";
  }

  /** Better do without what it says of this model, for now. */
  plainlyWrong(model: string): boolean {
    return this.fitness(model) === "wrong";
  }

  /** Measurements that what it says of the model stands on. */
  points(model: string): number {
    return this.#known(model)?.memory.size ?? 0;
  }

  forget(model: string): void {
    this.#models.delete(model);
    this.#saved.delete(model);
  }

  get notes(): Map<string, CapacityNotes> {
    const notes = new Map(this.#saved);
    for (const [model, { memory, compute, bandwidth }] of this.#models) {
      notes.set(model, { memory: memory.notes, compute: compute.notes, bandwidth: bandwidth.notes });
    }
    return notes;
  }

  #known(model: string): Record<keyof Resources, LearnedValue> | undefined {
    const saved = this.#saved.get(model);
    if (saved !== undefined) {
      this.#saved.delete(model);
      this.#models.set(model, this.#start(model, saved));
    }
    return this.#models.get(model);
  }

  #start(model: string, notes: CapacityNotes | null): Record<keyof Resources, LearnedValue> {
    const { facts, device = USUAL_DEVICE, learning } = this.#options;
    const full = fullFacts(facts?.(model) ?? {});
    const deviations = capacityDeviation(full);
    const value = (name: keyof Resources) => {
      const prior = (input: readonly number[]) => {
        const mean = Math.log(capacityPrior(full, device, loadOf(input))[name] + FLOOR[name]);
        return { mean, deviation: deviations[name] };
      };
      return new LearnedValue(5, prior, learning, notes?.[name]);
    };
    return { memory: value("memory"), compute: value("compute"), bandwidth: value("bandwidth") };
  }
}

/** Mean and variance of exp(x) - floor, x normal. */
function fromLog({ mean, variance }: Prediction, floor: number): Prediction {
  // Beyond these, the figures mean nothing but "very much", and must stay finite.
  const middle = Math.exp(Math.min(mean, 200));
  const wide = Math.min(variance, 10);
  const mid = middle * Math.exp(wide / 2);
  return { mean: Math.max(mid - floor, 0), variance: Math.expm1(wide) * mid * mid };
}
