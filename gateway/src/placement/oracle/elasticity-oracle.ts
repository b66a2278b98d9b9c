import type { Fitness } from "./drift.ts";
import { elasticityDeviation, elasticityPrior } from "./elasticity-prior.ts";
import { type LearnedNotes, LearnedValue } from "./learned-value.ts";
import { isLoad, loadInput, loadOf } from "./load-input.ts";
import { fullFacts, USUAL_DEVICE } from "./model-facts.ts";
import type { OracleOptions } from "./options.ts";
import { angleOf, shareOf } from "./share-scale.ts";
import type { ElasticityView, ModelLoad, Prediction } from "./types.ts";

/**
 * Elasticity: how a model is asked and by how many replicas it is served -> the share of its requests that is on time.
 * The share is learned as an angle (see `angleOf`), apart from what the model's size lets expect, with the rate of one replica in the
 * place of the rate: that is what lateness depends on first.
 */
export class ElasticityOracle implements ElasticityView {
  readonly #options: OracleOptions;
  readonly #models = new Map<string, LearnedValue>();
  /** As in `CapacityOracle`. */
  readonly #saved: Map<string, LearnedNotes>;

  constructor(options: OracleOptions, notes: ReadonlyMap<string, LearnedNotes> = new Map()) {
    this.#options = options;
    this.#saved = new Map(notes);
  }

  /** Throws RangeError for a load that is none (see `isLoad`), or for replicas that are not from 1. */
  predict(model: string, load: ModelLoad, replicas: number): Prediction {
    return this.#predictAll(model, load, [replicas])[0] as Prediction;
  }

  /** The same for 1, 2, ... `most` replicas, in a fraction of the time that asking for each would take. */
  predictReplicas(model: string, load: ModelLoad, most: number): Prediction[] {
    return this.#predictAll(
      model,
      load,
      Array.from({ length: most }, (_, index) => index + 1),
    );
  }

  /** Learns from one measurement. False, and nothing is learned: a figure is not finite or out of its range. */
  observe(model: string, load: ModelLoad, replicas: number, share: number): boolean {
    if (!isLoad(load) || !isCount(replicas) || !(share >= 0 && share <= 1)) return false;
    const value = this.#known(model) ?? this.#start(model, null);
    this.#models.set(model, value);
    value.observe(inputOf(load, replicas), angleOf(share));
    return true;
  }

  fitness(model: string): Fitness {
    return this.#known(model)?.fitness ?? "fits";
  }

  /** Better do without what it says of this model, for now. */
  plainlyWrong(model: string): boolean {
    return this.fitness(model) === "wrong";
  }

  /** Measurements that what it says of the model stands on. */
  points(model: string): number {
    return this.#known(model)?.size ?? 0;
  }

  forget(model: string): void {
    this.#models.delete(model);
    this.#saved.delete(model);
  }

  get notes(): Map<string, LearnedNotes> {
    const notes = new Map(this.#saved);
    for (const [model, value] of this.#models) notes.set(model, value.notes);
    return notes;
  }

  #predictAll(model: string, load: ModelLoad, counts: readonly number[]): Prediction[] {
    if (!isLoad(load)) throw new RangeError("a load has finite figures from 0");
    if (!counts.every(isCount)) throw new RangeError("replicas are counted from 1");
    const value = this.#known(model) ?? this.#start(model, null);
    return value.predictAll(counts.map((replicas) => inputOf(load, replicas))).map(shareOf);
  }

  #known(model: string): LearnedValue | undefined {
    const saved = this.#saved.get(model);
    if (saved !== undefined) {
      this.#saved.delete(model);
      this.#models.set(model, this.#start(model, saved));
    }
    return this.#models.get(model);
  }

  #start(model: string, notes: LearnedNotes | null): LearnedValue {
    const { facts, device = USUAL_DEVICE, learning } = this.#options;
    const full = fullFacts(facts?.(model) ?? {});
    const prior = (input: readonly number[]) => {
      const share = elasticityPrior(full, device, loadOf(input));
      return { mean: angleOf(share), deviation: elasticityDeviation(full, share) };
    };
    return new LearnedValue(6, prior, learning, notes);
  }
}

/** The load of one replica, and how many there are. */
function inputOf(load: ModelLoad, replicas: number): number[] {
  const ofOne = { ...load, requestsPerSecond: load.requestsPerSecond / replicas };
  return [...loadInput(ofOne), Math.log(replicas)];
}

function isCount(replicas: number): boolean {
  return replicas >= 1 && replicas <= 1e6;
}
