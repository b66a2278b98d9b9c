import { type Clock, REGISTRATION_LEASE_MS } from "@farmgate/shared";
import type { Log } from "@farmgate/wire";
import type { WorkerConfig } from "../catalog/types.ts";
import type { RegisteredWorker } from "../together/news.ts";
import { addressFault, isLoop, type Teller } from "./address-rules.ts";
import { MAX_REGISTERED } from "./book.ts";
import { type AddressesOf, type HostFault, hostOf } from "./lookups.ts";

export interface ToldPlacesDeps {
  clock: Clock;
  log: Log;
  addressesOf: AddressesOf;
  /** Why a worker is not to be taken in; null: it is one. */
  ask: (config: WorkerConfig, fault: HostFault) => Promise<string | null>;
}

/**
 * Looks at where workers are that another gateway took in. A loopback address is that gateway's own machine. Here some
 * other program may have it, so it is asked without the key, and once for each run of an agent.
 */
export class ToldPlaces {
  readonly #deps: ToldPlacesDeps;
  #looks = 0;
  /** Runs of agents at addresses of this machine that were asked and are not taken, until they are not told any more. */
  readonly #strangers = new Map<string, number>();

  constructor(deps: ToldPlacesDeps) {
    this.#deps = deps;
  }

  /**
   * By which rule the worker may be asked from here; null: it may not. `isHere`: another process of this machine tells,
   * whose loopback addresses are the same. More at a time than could be are not looked at: they are told again with their
   * renewals. Never rejects.
   */
  async tellerOf(worker: RegisteredWorker, isHere: boolean): Promise<Teller | null> {
    if (this.#looks >= MAX_REGISTERED) return null;
    this.#looks += 1;
    try {
      const found = await this.#deps.addressesOf(hostOf(worker.config.url)).catch(() => []);
      const sound = found.filter((address) => addressFault(address, "here", []) === null);
      if (sound.length === 0) return null;
      if (!sound.some(isLoop)) return "gateway";
      return isHere || (await this.#isHere(worker)) ? "here" : null;
    } finally {
      this.#looks -= 1;
    }
  }

  async #isHere({ config, instance }: RegisteredWorker): Promise<boolean> {
    const { clock, log, ask } = this.#deps;
    const now = clock.now();
    for (const [run, until] of this.#strangers) if (until <= now) this.#strangers.delete(run);
    const run = `${instance} ${config.url}`;
    const isKnown = this.#strangers.has(run);
    if (!isKnown && this.#strangers.size >= MAX_REGISTERED) return false;
    this.#strangers.set(run, now + REGISTRATION_LEASE_MS);
    if (isKnown) return false;
    const why = await ask({ ...config, apiKey: null }, (_, address) => addressFault(address, "here", []));
    if (why === null) return this.#strangers.delete(run);
    const { name, url } = config;
    log.warn(
      { worker: name, url, why },
      `${name} registered with another gateway at ${url}, where from here no agent answers without a key as ${name}: ` +
        "set its `gateway.advertise` to an address that all gateways can reach, or let it register here as well",
    );
    return false;
  }
}
