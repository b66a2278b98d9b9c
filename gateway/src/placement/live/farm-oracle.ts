import type { Catalog, WorkerEntry } from "../../catalog/types.ts";
import type { CapacityOracle } from "../oracle/capacity-oracle.ts";
import type { ElasticityOracle } from "../oracle/elasticity-oracle.ts";
import type { ModelLoad, Resources } from "../oracle/types.ts";
import { hasWarmCopy } from "../usable.ts";
import { memoryTold } from "./memory-told.ts";
import type { Observations } from "./observations.ts";
import type { ObservedShare } from "./observed-share.ts";
import { LIKE_OTHERS, type WorkerSpeed, workerSpeeds } from "./worker-speeds.ts";

/** Requests of which a share on time says something. */
const FEWEST = 5;

/** The Oracle of a running farm: it learns from what the farm observes. */
export class FarmOracle {
  readonly capacity: CapacityOracle;
  readonly elasticity: ElasticityOracle;
  /** Since when each model has had as many copies (milliseconds). */
  readonly #copies = new Map<string, { count: number; since: number }>();

  constructor(capacity: CapacityOracle, elasticity: ElasticityOracle) {
    this.capacity = capacity;
    this.elasticity = elasticity;
  }

  /** Takes note of how many copies each model has now. */
  look(catalog: Catalog, keys: readonly string[], now: number): void {
    const kept = new Set(keys);
    for (const key of this.#copies.keys()) if (!kept.has(key)) this.#copies.delete(key);
    for (const key of keys) {
      const count = catalog.workers.filter((entry) => hasWarmCopy(entry, key, now)).length;
      if (this.#copies.get(key)?.count !== count) this.#copies.set(key, { count, since: now });
    }
  }

  /**
   * Learns from the last `spans.heatMs` of the models `keys`, of all `inUse`: 1. what it took; 2. the share that was on
   * time, where it had the same copies all the while.
   */
  learn(catalog: Catalog, seen: Observations, inUse: readonly string[], keys: readonly string[], now: number): void {
    const speeds = workerSpeeds(catalog, seen, inUse);
    for (const key of keys) {
      const figures = seen.of(key);
      if (figures === null) continue;
      const load = figures.loadOfLate(now);
      if (load.requestsPerSecond === 0) continue;
      const copies = catalog.workers.filter(({ byKey }) => byKey.has(key));
      // 1
      const taken = this.#taken(key, load, copies, seen, speeds, now);
      if (taken !== null) this.capacity.observe(key, load, taken);
      // 2
      const had = this.observed(seen, key, now);
      if (had?.stood === true && had.copies > 0) this.elasticity.observe(key, load, had.copies, had.share);
    }
  }

  /** The share that was on time of late, and with how many copies; null: too few requests tell of it. */
  observed(seen: Observations, key: string, now: number): ObservedShare | null {
    const onTime = seen.of(key)?.onTime(now) ?? null;
    const had = this.#copies.get(key);
    if (onTime === null || onTime.requests < FEWEST || had === undefined) return null;
    return { copies: had.count, stood: now - had.since >= seen.spans.heatMs, share: onTime.share };
  }

  /** Better do without what it says of the model, for now. */
  plainlyWrong(key: string): boolean {
    return this.capacity.plainlyWrong(key) || this.elasticity.plainlyWrong(key);
  }

  /** What is not measured is taken as it was expected; null: nothing is measured. */
  #taken(
    key: string,
    load: ModelLoad,
    copies: readonly WorkerEntry[],
    seen: Observations,
    speeds: ReadonlyMap<string, WorkerSpeed>,
    now: number,
  ): Resources | null {
    const sums = { compute: 0, bandwidth: 0 };
    const known = { compute: false, bandwidth: false };
    for (const { config } of copies) {
      const pair = seen.pair(config.name, key);
      if (pair === null) continue;
      const shares = pair.shares(now);
      const speed = speeds.get(config.name) ?? LIKE_OTHERS;
      for (const what of ["compute", "bandwidth"] as const) sums[what] += shares[what] * speed[what];
      known.compute ||= pair.inputRate !== null;
      known.bandwidth ||= pair.outputRate !== null;
    }
    if (!known.compute && !known.bandwidth) return null;
    const expected = this.capacity.predict(key, load);
    return {
      memory: memoryTold(copies, key) ?? expected.memory.mean,
      compute: known.compute ? sums.compute : expected.compute.mean,
      bandwidth: known.bandwidth ? sums.bandwidth : expected.bandwidth.mean,
    };
  }
}
