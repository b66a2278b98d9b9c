import type { GatewayConfig } from "@farmgate/gateway";
import {
  decideLoads,
  meantCopies,
  nameRules,
  NO_ORDERS,
  observed,
  type OrderBook,
  ordered,
  type PlacementView,
  wantedCopies,
} from "@farmgate/gateway/policies";
import type { GatewayRun } from "./gateway-run.ts";

/** Changes of the catalogue that come together are looked at together, in milliseconds; as the gateway does. */
export const GATHER_MS = 20;
/** Between two looks that no change asks for, in milliseconds. */
export const REGULAR_MS = 2_000;

/** The gateway's `models.keepWarm` in virtual time. */
export class KeeperRun {
  readonly #asked;
  #orders: OrderBook = NO_ORDERS;

  constructor({ models }: GatewayConfig) {
    this.#asked = wantedCopies(models.keepWarm, nameRules(models));
  }

  get isIdle(): boolean {
    return this.#asked.length === 0;
  }

  /** What the gateway would order now. */
  look(gateway: GatewayRun, now: number): readonly { worker: string; model: string }[] {
    const { catalog } = gateway;
    const wanted = meantCopies(this.#asked, catalog);
    this.#orders = observed(this.#orders, catalog, new Set(wanted.map(({ key }) => key)), now);
    const loads = decideLoads(wanted, this.view(gateway, now));
    for (const { worker, key, model } of loads) {
      const entry = catalog.workers.find(({ config }) => config.name === worker);
      const wasFailed = entry?.byKey.get(key)?.state === "failed";
      this.#orders = ordered(this.#orders, { worker, key, model, wasFailed }, now);
    }
    return loads;
  }

  view({ catalog, inflight, recentUse, lastCopies }: GatewayRun, now: number): PlacementView {
    return { catalog, orders: this.#orders, inflight, recentUse, lastCopies, now };
  }
}
