import type { Clock } from "@farmgate/shared";
import type { PlacementController } from "../placement/live/controller.ts";
import type { UncountedFigures } from "../placement/live/request-figures.ts";
import type { RecentUse } from "../placement/recent-use.ts";
import type { Hub } from "./hub.ts";
import type { CountedTokens } from "./news.ts";

export interface SharedUseDeps {
  clock: Pick<Clock, "now">;
  hub: Pick<Hub, "isShared" | "tell">;
  recentUse: RecentUse;
  placement: Pick<PlacementController, "session" | "asked" | "ended" | "figuresOf">;
}

/** Where nobody places models it is enough to know what is in use: told once in so many milliseconds. */
const IN_USE_MS = 60_000;
/** Models of which that is remembered; all are told again once there are more. */
const MODELS = 1_000;

/** What callers ask for at any of the gateways: who places models must know all of it. */
export class SharedUse {
  readonly #deps: SharedUseDeps;
  readonly #told = new Map<string, number>();

  constructor(deps: SharedUseDeps) {
    this.#deps = deps;
  }

  /** A request for the model of this key of the catalogue came here. */
  asked(key: string): void {
    this.takeAsked(key);
    const { hub, clock, placement } = this.#deps;
    if (!hub.isShared) return;
    const now = clock.now();
    if (placement.session === null && now - (this.#told.get(key) ?? Number.NEGATIVE_INFINITY) < IN_USE_MS) return;
    if (this.#told.size >= MODELS) this.#told.clear();
    this.#told.set(key, now);
    hub.tell({ kind: "asked", key });
  }

  /** The same, at another gateway. */
  takeAsked(key: string): void {
    const { clock, recentUse, placement } = this.#deps;
    recentUse.asked(key, clock.now());
    placement.asked(key, clock.now());
  }

  figuresOf(...ended: Parameters<PlacementController["figuresOf"]>): UncountedFigures | null {
    return this.#deps.placement.figuresOf(...ended);
  }

  /** A request that came here has ended. */
  ended(key: string, figures: UncountedFigures, usage: CountedTokens | null): void {
    const { hub, placement } = this.#deps;
    placement.ended(key, figures, usage);
    if (hub.isShared) hub.tell({ kind: "ended", key, figures, usage });
  }
}
