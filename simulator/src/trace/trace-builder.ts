import type { Trace } from "./types.ts";

/** Applications, and keys, are told apart by 16 bits. */
export const MOST_NAMES = 65_536;
/** Rows that are made room for at first. */
const FIRST_ROWS = 4_096;

export interface TraceRow {
  at: number;
  app: number;
  input: number;
  output: number;
  prefix?: number;
  key?: number;
  deadline?: number;
  batch?: boolean;
}

/** Columns that grow as rows come, in any order; a column that no row needs is left out. */
export class TraceBuilder {
  readonly #places = new Map<string, number>();
  #length = 0;
  #columns = room(FIRST_ROWS);
  #isInOrder = true;
  #has = { prefix: false, key: false, deadline: false, batch: false };

  get length(): number {
    return this.#length;
  }

  /** The place of an application's name; new ones get the next. Throws a RangeError when there are too many. */
  application(name: string): number {
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const place = this.#places.size;
    if (place >= MOST_NAMES) throw new RangeError(`there are more than ${MOST_NAMES} applications`);
    this.#places.set(name, place);
    return place;
  }

  add({ at, app, input, output, prefix = 0, key = 0, deadline = 0, batch = false }: TraceRow): void {
    const row = this.#length;
    if (row === this.#columns.at.length) this.#columns = grown(this.#columns);
    const columns = this.#columns;
    this.#isInOrder &&= row === 0 || at >= (columns.at[row - 1] ?? 0);
    columns.at[row] = at;
    columns.app[row] = app;
    columns.input[row] = input;
    columns.output[row] = output;
    columns.prefix[row] = prefix;
    columns.key[row] = key;
    columns.deadline[row] = deadline;
    columns.batch[row] = batch ? 1 : 0;
    this.#has.prefix ||= prefix > 0;
    this.#has.key ||= key > 0;
    this.#has.deadline ||= deadline > 0;
    this.#has.batch ||= batch;
    this.#length += 1;
  }

  /** In order of arrival; of rows at the same time the one that was added first. */
  build(): Trace {
    const { at } = this.#columns;
    const order = Uint32Array.from({ length: this.#length }, (_, row) => row);
    if (!this.#isInOrder) order.sort((a, b) => (at[a] ?? 0) - (at[b] ?? 0) || a - b);
    return inOrder({ ...this.#columns, applications: [...this.#places.keys()] }, order, this.#has);
  }
}

type Columns = ReturnType<typeof room>;

function room(rows: number) {
  return {
    at: new Float64Array(rows),
    app: new Uint16Array(rows),
    input: new Uint32Array(rows),
    output: new Uint32Array(rows),
    prefix: new Uint32Array(rows),
    key: new Uint16Array(rows),
    deadline: new Float64Array(rows),
    batch: new Uint8Array(rows),
  };
}

function grown(columns: Columns): Columns {
  const larger = room(2 * columns.at.length);
  for (const name of Object.keys(columns) as (keyof Columns)[]) larger[name].set(columns[name]);
  return larger;
}

const EVERY_COLUMN = { prefix: true, key: true, deadline: true, batch: true };

/** The rows of a trace that `order` names, in its order; of the columns that need not be there those in `keeps`. */
export function inOrder(
  trace: Trace,
  order: Uint32Array,
  keeps: Record<keyof typeof EVERY_COLUMN, boolean> = EVERY_COLUMN,
): Trace {
  const { applications, at, app, input, output, prefix, key, deadline, batch } = trace;
  const taken: Trace = {
    applications,
    at: pick(at, order, new Float64Array(order.length)),
    app: pick(app, order, new Uint16Array(order.length)),
    input: pick(input, order, new Uint32Array(order.length)),
    output: pick(output, order, new Uint32Array(order.length)),
  };
  if (prefix !== undefined && keeps.prefix) taken.prefix = pick(prefix, order, new Uint32Array(order.length));
  if (key !== undefined && keeps.key) taken.key = pick(key, order, new Uint16Array(order.length));
  if (deadline !== undefined && keeps.deadline) taken.deadline = pick(deadline, order, new Float64Array(order.length));
  if (batch !== undefined && keeps.batch) taken.batch = pick(batch, order, new Uint8Array(order.length));
  return taken;
}

function pick<A extends Float64Array | Uint32Array | Uint16Array | Uint8Array>(from: A, order: Uint32Array, to: A): A {
  for (let i = 0; i < order.length; i += 1) to[i] = from[order[i] ?? 0] ?? 0;
  return to;
}
