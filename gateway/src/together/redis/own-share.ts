import type { OwnCounts } from "../hub.ts";
import { callerField, type Fields, fieldsOf, workerField } from "./record-fields.ts";

/** What changed since the step before. */
export interface Step {
  /** Fields of sums and what is added to them, in turn. */
  sums: (string | number)[];
  /** Fields of pairs and how many there are now, in turn. */
  pairs: (string | number)[];
  /** What the others have to know of it: pairs and keys, as they are now. */
  told: Fields;
}

/**
 * What this member has under way, against what its record at Redis says. The record's sums (per worker, per key) change
 * in two ways: a claim adds its place in the very step in which it was found free, and steps add what changed otherwise.
 *
 * A step *adds the difference* between what is under way and what this side knows to stand in the record. It does not
 * write the sum itself, since a claim that is not answered yet may or may not have added to it by then:
 *  1. A claim is sent, then a step is made, then the claim is answered. The step leaves the claim's place alone, because
 *     it is neither among the own counts nor in what is known; the answer brings it into both. A claim that is refused
 *     changes neither.
 *  2. A claim is answered too late, when its request has gone on by itself: the answer makes it known, the own counts
 *     have what the request really took, and the next step puts the one in the place of the other.
 *  3. A request leaves as soon as its claim is answered: known, not counted, taken back.
 *  4. The connection breaks: whether the last commands were carried out is not known. The record is written as a whole
 *     then, under a new generation. What arrives later by the old connection names an old generation and is refused, as
 *     it is where the record is lost; an answer that comes for it is no knowledge of the new record.
 *  5. Answers are read in one turn of the loop, and steps are made in another: by then those who waited for an answer
 *     have counted its place.
 * Where no claim is unanswered the heartbeat writes the record as a whole, so that no error could last.
 */
export class OwnShare {
  readonly #own: OwnCounts;
  /** What the record's sums are, as far as it is told. */
  #sums = new Map<string, number>();
  /** What the others were told; its pairs are the record's too. */
  #told: Fields = new Map();

  constructor(own: OwnCounts) {
    this.#own = own;
  }

  /** A claim was answered: its places have been added. null: it has none there. */
  claimed(worker: string | null, caller: string | null): void {
    if (worker !== null) this.#add(workerField(worker));
    if (caller !== null) this.#add(callerField(caller));
  }

  /** The whole record, fields and values in turn, and all that the others may know. It is known from now on. */
  whole(): { fields: (string | number)[]; told: Fields } {
    const { sums, told } = fieldsOf(this.#own);
    this.#sums = sums;
    this.#told = told;
    return { fields: [...sums, ...pairsOf(told)].flat(), told };
  }

  /** What changed since; null: nothing. It is known from now on. */
  step(): Step | null {
    const { sums, told } = fieldsOf(this.#own);
    const changedSums = changes(this.#sums, sums);
    const changed = changes(this.#told, told);
    if (changedSums.size + changed.size === 0) return null;
    const added = Array.from(changedSums, ([field, count]) => [field, count - (this.#sums.get(field) ?? 0)]);
    this.#sums = sums;
    this.#told = told;
    return { sums: added.flat(), pairs: pairsOf(changed).flat(), told: changed };
  }

  #add(sum: string): void {
    this.#sums.set(sum, (this.#sums.get(sum) ?? 0) + 1);
  }
}

/** What is another number now, none included. */
function changes(before: Fields, after: Fields): Fields {
  const changed = new Map<string, number>();
  for (const [field, count] of after) if (before.get(field) !== count) changed.set(field, count);
  for (const field of before.keys()) if (!after.has(field)) changed.set(field, 0);
  return changed;
}

function pairsOf(told: Fields): [string, number][] {
  return [...told].filter(([field]) => field.startsWith("p:"));
}
