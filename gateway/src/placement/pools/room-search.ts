import { type Arrival, isMovableState, started, takeOut } from "./arrival.ts";
import { type BinSpace, FREE, LEAVING, range, SHARED, WHOLE } from "./bin-space.ts";
import type { Departures } from "./departures.ts";
import type { Fleet, Placed } from "./fleet.ts";
import type { UsedModel } from "./model-use.ts";
import { bestPlace, type Item, mayUse } from "./packing.ts";
import type { PoolRules } from "./rules.ts";
import type { PoolAction } from "./types.ts";

/** Looks for room that has to be made: step 2 of `planStablePool`. */
export class RoomSearch {
  readonly claimed = new Set<number>();
  /** Some wait for room that is being made. */
  isWaiting = false;
  readonly demoted: string[] = [];
  readonly #fleet: Fleet;
  readonly #now: BinSpace;
  readonly #left: BinSpace;
  readonly #withoutIdle: BinSpace;
  readonly #resting: readonly Placed[];
  readonly #released = new Set<Placed>();
  readonly #taken = new Map<string, number>();
  readonly #mayClaim: boolean;
  readonly #spare: number;

  constructor(
    fleet: Fleet,
    now: BinSpace,
    used: readonly UsedModel[],
    { gone }: Departures,
    mayClaim: boolean,
    rules: PoolRules,
  ) {
    this.#fleet = fleet;
    this.#now = now;
    this.#left = now.copy();
    this.#mayClaim = mayClaim;
    this.#spare = rules.besideSpare;
    for (const placed of fleet.placed) {
      if (placed.replica.state === "draining" || gone.has(placed)) takeOut(this.#left, placed);
    }
    this.#withoutIdle = this.#left.copy();
    const resting = new Set(used.flatMap(({ view, use }) => (use === "resting" ? view.id : [])));
    this.#resting = fleet.placed.filter(
      (placed) =>
        resting.has(placed.line.id) && isMovableState(placed) && placed.pool === "stable" && !gone.has(placed),
    );
    for (const placed of this.#resting) takeOut(this.#withoutIdle, placed);
  }

  find(arrival: Arrival, actions: PoolAction[], reasons: string[]): void {
    const { item } = arrival;
    // 2a
    const left = bestPlace(this.#left, item);
    if (left !== null) {
      this.#reserve(item, left.first);
      this.#startOrWait(arrival, left.first, actions, reasons, "bins are being left");
      return;
    }
    // 2b
    const idle = bestPlace(this.#withoutIdle, item);
    if (idle !== null) {
      const bins = range(idle.first, item.span);
      for (const placed of this.#resting) {
        if (this.#released.has(placed) || !placed.bins.some((bin) => bins.includes(bin))) continue;
        this.#released.add(placed);
        takeOut(this.#left, placed);
        const reason = `${item.id} is asked for and needs its room; nothing is asked of ${placed.model.id}`;
        actions.push({ kind: "release", replica: placed.replica.id, reason });
      }
      this.#reserve(item, idle.first);
      reasons.push(`${item.id} waits: idle models go first`);
      return;
    }
    if (this.#mayClaim) {
      // 2c
      const claim = this.#leastHot(item);
      if (claim !== null) {
        for (const placed of this.#elasticOn(claim, item.span)) {
          this.#taken.set(placed.line.id, (this.#taken.get(placed.line.id) ?? 0) + 1);
        }
        this.#reserve(item, claim);
        this.#startOrWait(arrival, claim, actions, reasons, "the elastic pool gives bins back");
        return;
      }
      // 2d
      const beside = this.#besideElastic(item);
      if (beside !== null) {
        this.demoted.push(beside);
        reasons.push(`${beside} is demoted, so that ${item.id} finds room beside it`);
        return;
      }
    }
    reasons.push(`${item.id} has no replica: there is no room for it in the stable pool`);
  }

  #reserve({ demand, span }: Item, first: number): void {
    // The free ones too: they wait for their neighbours.
    for (const bin of range(first, span)) if (this.#now.use[bin] !== SHARED) this.claimed.add(bin);
    this.isWaiting = true;
    for (const space of [this.#left, this.#withoutIdle]) space.putStable(first, demand, span);
  }

  #startOrWait(arrival: Arrival, first: number, actions: PoolAction[], reasons: string[], why: string): void {
    const { id, demand, span } = arrival.item;
    if (!this.#now.isAll(first, span, (1 << FREE) | (1 << LEAVING) | (1 << WHOLE))) reasons.push(`${id} waits: ${why}`);
    else if (!this.#now.startsBeside(first, demand, span, this.#spare)) reasons.push(`${id} waits: ${why}`);
    else {
      this.#now.put(range(first, span), demand, span);
      actions.push(started(this.#fleet, arrival, first, `${why}, and it fits beside what leaves`));
    }
  }

  #elasticOn(first: number, span: number): readonly Placed[] {
    const on = new Set(range(first, span).flatMap((bin) => this.#fleet.on(bin)));
    return [...on].filter(({ replica, pool }) => pool === "elastic" && replica.state !== "draining");
  }

  #leastHot(item: Item): number | null {
    const uses = (1 << FREE) | (1 << LEAVING) | (1 << WHOLE);
    let best: number | null = null;
    let least = Number.POSITIVE_INFINITY;
    for (const first of this.#now.layout.groups(item.span)) {
      if (!this.#now.isAll(first, item.span, uses) || !mayUse(item, first)) continue;
      if (range(first, item.span).some((bin) => this.claimed.has(bin)) || !this.#wouldHold(item, first)) continue;
      const on = this.#elasticOn(first, item.span);
      const isSpare = on.every(({ line, frozen }) => !frozen && this.#countOf(line.id) > 1);
      const heat = Math.max(0, ...on.map(({ line }) => line.heat / this.#countOf(line.id)));
      if (!isSpare || heat >= least) continue;
      least = heat;
      best = first;
    }
    return best;
  }

  #countOf(lineId: string): number {
    return this.#fleet.staying(lineId).length - (this.#taken.get(lineId) ?? 0);
  }

  /** By itself. */
  #wouldHold({ demand, span }: Item, first: number): boolean {
    return range(first, span).every((bin) => this.#now.share(bin, 0, demand, span) <= 1);
  }

  #besideElastic(item: Item): string | null {
    for (const first of this.#now.layout.groups(item.span)) {
      if (!mayUse(item, first) || !this.#left.fits(first, item.demand, item.span)) continue;
      const on = this.#elasticOn(first, item.span);
      const model = on[0]?.model;
      if (model === undefined || on.some((each) => each.model !== model)) continue;
      if (this.#fleet.poolOf(model) === "elastic" && !this.demoted.includes(model.id)) return model.id;
    }
    return null;
  }
}
