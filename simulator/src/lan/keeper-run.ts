import type { GatewayConfig } from "@farmgate/gateway";
import {
  decideLoads,
  meantCopies,
  nameRules,
  type PlacementView,
  type WantedCopies,
  wantedCopies,
} from "@farmgate/gateway/policies";
import type { DeskRun } from "./desk-run.ts";
import type { GatewayRun } from "./gateway-run.ts";

/** Changes of the catalogue that come together are looked at together, in milliseconds; as the gateway does. */
export const GATHER_MS = 20;
/** Between two looks that no change asks for, in milliseconds. */
export const REGULAR_MS = 2_000;

/** The gateway's `models.keepWarm` in virtual time. */
export class KeeperRun {
  readonly #asked: readonly WantedCopies[];
  readonly #gateway: GatewayRun;
  readonly #desk: DeskRun;

  constructor({ models }: GatewayConfig, gateway: GatewayRun, desk: DeskRun) {
    this.#asked = wantedCopies(models.keepWarm, nameRules(models));
    this.#gateway = gateway;
    this.#desk = desk;
  }

  /** Nothing is to be kept warm. */
  get isIdle(): boolean {
    return this.#asked.length === 0;
  }

  get wanted(): readonly WantedCopies[] {
    return meantCopies(this.#asked, this.#gateway.sight.catalog);
  }

  /** Orders what the gateway would order now. */
  look(): void {
    const { wanted } = this;
    this.#desk.look(wanted.map(({ key }) => key));
    for (const { worker, key, model } of decideLoads(wanted, this.view())) {
      this.#desk.tell("load", { worker, key, model }, () => {});
    }
  }

  view(): PlacementView {
    const { sight, now } = this.#gateway;
    const { catalog, inflight, recentUse, lastCopies } = sight;
    const { book: orders, unloading } = this.#desk;
    return { catalog, orders, unloading, inflight, recentUse, lastCopies, now };
  }
}
