import type { Clock, Random } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { CatalogStore } from "../../catalog/store.ts";
import { CapacityOracle } from "../oracle/capacity-oracle.ts";
import { ElasticityOracle } from "../oracle/elasticity-oracle.ts";
import type { ReferenceDevice } from "../oracle/model-facts.ts";
import type { OracleOptions } from "../oracle/options.ts";
import { OracleFile } from "../oracle-file.ts";
import { factsOf, farmDevice } from "./farm-device.ts";
import { FarmOracle } from "./farm-oracle.ts";
import type { Observations } from "./observations.ts";

/** What the farm is taken for holds for one plan, about so many milliseconds: found anew for each model, it costs their square. */
const DEVICE_MS = 50;

export interface OracleKeeperDeps {
  clock: Clock;
  log: Pick<Log, "warn">;
  random: Random;
  catalog: Pick<CatalogStore, "current">;
  seen: () => Observations;
}

/**
 * Between two ticks requests have to be served, so that less is learned from at a time than could be: about 20 ms for a fit,
 * and a fifth of that for all predictions of a model.
 */
const EFFORT = { maxPoints: 100, fitPoints: 32 };

/** The farm's Oracle and the file that it outlives the program in. */
export class OracleKeeper {
  readonly #file: OracleFile | null;
  #oracle: FarmOracle | null = null;
  /** That are due. */
  readonly #fits: (() => void)[] = [];

  /** `stateDir`: null, and it starts anew each time. */
  constructor(stateDir: string | null, deps: OracleKeeperDeps) {
    const { clock, log, random } = deps;
    const learning = { random, ...EFFORT, fitLater: (fit: () => void) => void this.#fits.push(fit) };
    const [capacity, elasticity] = [optionsOf(deps, learning, true), optionsOf(deps, learning, false)];
    this.#file =
      stateDir === null ? null : new OracleFile(stateDir, { clock, tell: (problem) => log.warn({}, problem) });
    if (this.#file === null) {
      this.#oracle = new FarmOracle(new CapacityOracle(capacity), new ElasticityOracle(elasticity));
    } else {
      this.#read(this.#file, capacity, elasticity).catch((error: unknown) => {
        log.warn({ err: error }, "what placement learned cannot be used, and is learned anew");
        this.#oracle = new FarmOracle(new CapacityOracle(capacity), new ElasticityOracle(elasticity));
      });
    }
  }

  /** null: its file is still being read. */
  get oracle(): FarmOracle | null {
    return this.#oracle;
  }

  /** Does one of the fits that are due: they are long work, for a tick each. */
  fitNext(): void {
    this.#fits.shift()?.();
  }

  /** Has what was learned written, now or soon. */
  save(): void {
    if (this.#oracle !== null) this.#file?.save(this.#oracle);
  }

  /** Resolves once all of it is written. */
  async close(): Promise<void> {
    if (this.#oracle !== null) await this.#file?.flush(this.#oracle);
  }

  async #read(file: OracleFile, capacity: OracleOptions, elasticity: OracleOptions): Promise<void> {
    const read = await file.read(capacity, elasticity);
    this.#oracle = new FarmOracle(read.capacity, read.elasticity);
  }
}

/** Of models that were never measured it says what their size and the farm's speed by then let expect. */
function optionsOf(
  { clock, catalog, seen }: OracleKeeperDeps,
  learning: OracleOptions["learning"],
  together: boolean,
): OracleOptions {
  let device: ReferenceDevice | null = null;
  let foundAt = Number.NEGATIVE_INFINITY;
  return {
    learning,
    facts: (key) => factsOf(catalog.current, key),
    get device() {
      const now = clock.now();
      if (device !== null && now - foundAt < DEVICE_MS) return device;
      foundAt = now;
      device = farmDevice(catalog.current, seen(), seen().keys(), together);
      return device;
    },
  };
}
