import type { OthersView } from "../hub.ts";
import { Tally } from "../room/tally.ts";
import { countSchema, type Fields, meantBy, stepSchema } from "./record-fields.ts";

/** The number under which a record has its last step. */
const STEP_FIELD = "s";

interface Heard {
  /** The number of the last step that was heard of. */
  step: number;
  fields: Map<string, number>;
  /** No step was missed since all of it was known. */
  isWhole: boolean;
}

/**
 * What the others have under way: told step by step, and read from their records where steps may have been missed. Both
 * carry the number of the step, since what is read may be older than what was told meanwhile.
 */
export class HeardMembers implements OthersView {
  readonly #members = new Map<string, Heard>();
  /** All of them together. */
  readonly #all = new Tally();

  worker(name: string): number {
    return this.#all.worker(name);
  }

  pair(name: string, key: string): number {
    return this.#all.pair(name, key);
  }

  pairs(name: string): ReadonlyMap<string, number> {
    return this.#all.pairs(name);
  }

  caller(name: string): number {
    return this.#all.caller(name);
  }

  /** All that it has under way. */
  knows(member: string): boolean {
    return this.#members.get(member)?.isWhole ?? false;
  }

  /** A member told what changed, or with `isAll` everything. */
  told(member: string, step: number, fields: Fields, isAll: boolean): void {
    const heard = this.#heard(member);
    if (step <= heard.step) return;
    heard.step = step;
    heard.isWhole ||= isAll;
    if (isAll) this.#replace(heard, fields);
    else for (const [field, count] of fields) this.#set(heard, field, count);
  }

  /** The number of the last step that was heard of a member; -1: none was. */
  stepOf(member: string): number {
    return this.#members.get(member)?.step ?? -1;
  }

  /**
   * A member's record was read; empty: it has none. `asked`: `stepOf` when it was asked for, which a record has at least,
   * so that a number above its own was never the member's. false: it is too old to be of use, and has to be read again.
   */
  read(member: string, record: Readonly<Record<string, string>>, asked: number = -1): boolean {
    const step = stepSchema.safeParse(Number(record[STEP_FIELD] ?? -1)).data ?? -1;
    const heard = this.#heard(member);
    const isOld = step < 0 || step >= asked;
    if (step < heard.step && isOld) return heard.isWhole;
    heard.step = step;
    heard.isWhole = true;
    this.#replace(heard, countsOf(record));
    return true;
  }

  /** Steps may have been missed. */
  doubt(): void {
    for (const heard of this.#members.values()) heard.isWhole = false;
  }

  /** Forgets who is not among these. */
  keepOnly(members: readonly string[]): void {
    for (const member of this.#members.keys()) if (!members.includes(member)) this.forget(member);
  }

  forget(member: string): void {
    const heard = this.#members.get(member);
    if (heard !== undefined) this.#replace(heard, new Map());
    this.#members.delete(member);
  }

  #heard(member: string): Heard {
    let heard = this.#members.get(member);
    if (heard === undefined) this.#members.set(member, (heard = { step: -1, fields: new Map(), isWhole: false }));
    return heard;
  }

  #replace(heard: Heard, fields: Fields): void {
    for (const field of heard.fields.keys()) if (!fields.has(field)) this.#set(heard, field, 0);
    for (const [field, count] of fields) this.#set(heard, field, count);
  }

  #set(heard: Heard, field: string, count: number): void {
    const meant = meantBy(field);
    if (meant.kind === "other") return;
    const by = count - (heard.fields.get(field) ?? 0);
    if (count > 0) heard.fields.set(field, count);
    else heard.fields.delete(field);
    if (meant.kind === "pair") this.#all.add(meant.worker, meant.key, by);
    else this.#all.addCaller(meant.name, by);
  }
}

/** What is no count is left out. */
function countsOf(record: Readonly<Record<string, string>>): Map<string, number> {
  const read = Object.entries(record).map(([field, text]) => [field, countSchema.safeParse(Number(text)).data ?? 0]);
  return new Map(read as [string, number][]);
}
