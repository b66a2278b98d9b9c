import { canGoFor, capacityOf, replaces, weightOf } from "./fit.ts";
import { goesAt, type Leave, mayGo, type MayGo } from "./may-go.ts";
import { busyWith, type ModelState } from "./model-state.ts";
import type { Policy } from "./policy.ts";
import type { Costs, ModelRules, SchedulerRules } from "./types.ts";

/** A model that is to be loaded. */
export interface Candidate {
  readonly model: ModelState;
  /** From when its wait counts towards `maxWait`; null: it takes no victims. */
  readonly from: number | null;
}

/** What admissions are decided on. */
export interface Rooms {
  /** All that is in memory. */
  readonly present: Iterable<ModelState>;
  readonly policy: Policy;
  readonly rules: SchedulerRules;
  readonly costs: Costs;
}

/** What is the same for all candidates that replace the same models. */
interface Kind {
  /** The loaded models that it replaces, and that may go. */
  readonly forced: readonly ModelState[];
  /** The weight of all others in memory. */
  readonly staying: number;
  /** The weight of those that can never go for it. */
  readonly barring: number;
  /** It would replace one that cannot go, or whose answers have not ended. */
  readonly stuck: boolean;
}

/** From `at` on `weight` may be freed, in the order of both. */
type Freed = readonly { readonly at: number; readonly weight: number }[];

const NEVER = Number.POSITIVE_INFINITY;
const ALWAYS = Number.NEGATIVE_INFINITY;

/**
 * From when candidates could be let in, as things stand at one moment (rule R8). Hundreds may wait and each event asks
 * for all of them, so what does not depend on the candidate is worked out once.
 */
export class RoomTimes {
  readonly #rooms: Rooms;
  readonly #leave: Leave;
  readonly #present: readonly ModelState[];
  /** Those that may go for anybody. */
  readonly #others: readonly ModelState[];
  readonly #mayGo = new Map<ModelState, MayGo>();
  /** The kind of those that replace none. */
  #unloading: Kind | null = null;
  readonly #replacing = new Map<ModelRules["replacedIn"], Kind>();
  #freed: { forAny: Freed; forDue: Freed } | null = null;

  /** `wished`: of candidates that nobody waits for. */
  constructor(rooms: Rooms, wished: boolean) {
    this.#rooms = rooms;
    this.#leave = { policy: rooms.policy, rules: rooms.rules, wished };
    this.#present = [...rooms.present];
    this.#others = this.#present.filter(({ turn, rules }) => turn !== null && !rules.pinned && rules.unloads);
  }

  /**
   * From when the candidate could be let in; infinite: not by the mere passing of time.
   *
   * 1. answers of its own lost engine, or of one that it replaces, have not ended: not before they have; or it would
   *    replace a pinned one: never;
   * 2. it fits as things are: at once, or when those whom it replaces may go;
   * 3. else when enough of those that may go for it may go.
   */
  at({ model, from }: Candidate): number {
    const { forced, staying, stuck } = this.#kindOf(model.rules);
    if (stuck || busyWith(model) > 0) return NEVER; // (1)
    const toFree = this.#toFree(model, staying);
    if (from === null) return toFree <= 0 && forced.length === 0 ? ALWAYS : NEVER;
    const due = from + this.#rooms.rules.maxWait;
    let at = ALWAYS;
    for (const resident of forced) at = Math.max(at, goesAt(this.#mayGoOf(resident), due));
    return toFree <= 0 ? at : Math.max(at, this.#freedAt(toFree, due)); // (2), (3)
  }

  /** Whether the candidate stays out for as long as those are loaded that cannot go for it. */
  bars({ rules }: ModelState): boolean {
    const { budget } = this.#rooms.rules;
    return weightOf(rules, budget) + this.#kindOf(rules).barring > capacityOf(budget);
  }

  /** What must be freed for the candidate, whom it replaces in any case, and who else may go for it by `now`. */
  demand({ model, from }: Candidate, now: number) {
    const { forced, staying } = this.#kindOf(model.rules);
    const due = from === null ? NEVER : from + this.#rooms.rules.maxWait;
    const able = this.#others.filter((resident) => from !== null && goesAt(this.#mayGoOf(resident), due) <= now);
    return { toFree: this.#toFree(model, staying), forced, able };
  }

  #toFree({ rules }: ModelState, staying: number): number {
    const { budget } = this.#rooms.rules;
    return weightOf(rules, budget) + staying - capacityOf(budget);
  }

  #kindOf(candidate: ModelRules): Kind {
    if (candidate.unloads) return (this.#unloading ??= this.#kindFor(candidate));
    let kind = this.#replacing.get(candidate.replacedIn);
    if (kind === undefined) {
      kind = this.#kindFor(candidate);
      this.#replacing.set(candidate.replacedIn, kind);
    }
    return kind;
  }

  #kindFor(candidate: ModelRules): Kind {
    const { budget } = this.#rooms.rules;
    const replaced = this.#present.filter(({ rules }) => replaces(candidate, rules));
    const forced = replaced.filter(({ turn, rules }) => turn !== null && !rules.pinned);
    const barring = this.#present.filter(({ turn, rules }) => turn !== null && !canGoFor(rules, candidate));
    return {
      forced,
      staying: weigh(this.#present, budget) - weigh(forced, budget),
      barring: weigh(barring, budget),
      stuck: replaced.length > forced.length,
    };
  }

  #mayGoOf(resident: ModelState): MayGo {
    let known = this.#mayGo.get(resident);
    if (known === undefined) {
      known = mayGo(resident, this.#leave);
      this.#mayGo.set(resident, known);
    }
    return known;
  }

  /** Before it is due a candidate frees what may go for anybody, from then on what may go for one that is due. */
  #freedAt(toFree: number, due: number): number {
    this.#freed ??= { forAny: this.#freedBy("forAny"), forDue: this.#freedBy("forDue") };
    const { forAny, forDue } = this.#freed;
    return Math.min(firstOf(forAny, toFree), Math.max(due, firstOf(forDue, toFree)));
  }

  #freedBy(whom: keyof MayGo): Freed {
    const { budget } = this.#rooms.rules;
    const going = this.#others.map((resident) => ({ at: this.#mayGoOf(resident)[whom], rules: resident.rules }));
    let weight = 0;
    return going
      .sort((a, b) => a.at - b.at)
      .map(({ at, rules }) => ({ at, weight: (weight += weightOf(rules, budget)) }));
  }
}

function firstOf(freed: Freed, toFree: number): number {
  for (const { at, weight } of freed) if (weight >= toFree) return at;
  return NEVER;
}

function weigh(models: readonly ModelState[], budget: number): number {
  return models.reduce((sum, { rules }) => sum + weightOf(rules, budget), 0);
}
