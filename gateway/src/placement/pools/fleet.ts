import { BinSpace, CLOSED, FREE, LEAVING, SHARED, WHOLE } from "./bin-space.ts";
import { type Layout, layoutOf } from "./layout.ts";
import type { Item } from "./packing.ts";
import type { ModelView, Pool, PoolsInput, PoolsState, Replica } from "./types.ts";

/** One of our replicas and where it is. */
export interface Placed {
  replica: Replica;
  /** Of which it is a replica: `model`, or one of its lines. */
  line: ModelView;
  model: ModelView;
  /** To which it belongs now. */
  pool: Pool;
  /** Places in the layout. */
  bins: readonly number[];
  /** It is on a bin that is not ours: nothing is done to it. */
  frozen: boolean;
}

/** The bins with all that is on them. */
export interface Fleet {
  layout: Layout;
  space: BinSpace;
  placed: readonly Placed[];
  /** Replicas of the model or line that are to stay: not the draining ones, and of a move only the old one. */
  staying(lineId: string): readonly Placed[];
  /** What is on the bin. */
  on(bin: number): readonly Placed[];
  /** In which pool the model is. */
  poolOf(model: ModelView): Pool;
  /** A copy that takes its place is there. */
  isMoving(placed: Placed): boolean;
  /** Per bin of the layout: 1 where the model may be loaded; null: anywhere. */
  allowed(view: ModelView): Uint8Array | null;
}

export function fleetOf(input: PoolsInput, pools: PoolsState["pools"]): Fleet {
  const layout = layoutOf(input.bins);
  const space = new BinSpace(layout);
  const lines = new Map<string, { line: ModelView; model: ModelView }>();
  for (const model of input.models) {
    lines.set(model.id, { line: model, model });
    for (const line of model.lines ?? []) lines.set(line.id, { line, model });
  }
  const placed: Placed[] = [];
  for (const replica of input.replicas) {
    const bins = placesOf(replica.bins, layout);
    const known = lines.get(replica.model);
    if (known === undefined) {
      for (const bin of bins) space.use[bin] = CLOSED;
      continue;
    }
    const pool = poolOf(replica, known.line, known.model, pools);
    placed.push({ replica, ...known, pool, bins, frozen: false });
  }
  if (input.foreign !== undefined) for (const bin of placesOf(input.foreign, layout)) space.use[bin] = CLOSED;
  for (const each of placed) {
    // The stable pool counts on nothing before it is gone; a bin of it is not the elastic pool's.
    const use = each.pool === "stable" ? SHARED : each.replica.state === "draining" ? LEAVING : WHOLE;
    each.frozen = each.bins.some((bin) => space.use[bin] === CLOSED);
    for (const bin of each.bins) space.use[bin] = strongest(space.use[bin] ?? FREE, use);
    space.put(each.bins, each.line.demand, each.line.span);
  }
  const staying = stayingByLine(placed);
  const moving = new Set(placed.flatMap(({ replica }) => replica.replaces ?? []));
  let onBins: readonly (readonly Placed[])[] | null = null;
  return {
    layout,
    space,
    placed,
    staying: (lineId) => staying.get(lineId) ?? [],
    on: (bin) => {
      onBins ??= byBin(placed, layout);
      return onBins[bin] ?? [];
    },
    poolOf: ({ id }) => pools.get(id)?.pool ?? "stable",
    isMoving: ({ replica }) => moving.has(replica.id),
    allowed: ({ allowed }) =>
      allowed === null ? null : Uint8Array.from(layout.bins, ({ id }) => (allowed.has(id) ? 1 : 0)),
  };
}

function placesOf(ids: Iterable<string>, { places }: Layout): readonly number[] {
  const found: number[] = [];
  for (const id of ids) {
    const place = places.get(id);
    if (place !== undefined) found.push(place);
  }
  return found;
}

function byBin(placed: readonly Placed[], { bins }: Layout): readonly (readonly Placed[])[] {
  const on: Placed[][] = bins.map(() => []);
  for (const each of placed) for (const bin of each.bins) on[bin]?.push(each);
  return on;
}

function poolOf(replica: Replica, line: ModelView, model: ModelView, pools: PoolsState["pools"]): Pool {
  if (line !== model) return "elastic";
  if (model.lines !== undefined) return "stable";
  return pools.get(model.id)?.pool ?? replica.pool;
}

function strongest(a: number, b: number): number {
  for (const use of [CLOSED, SHARED, WHOLE, LEAVING]) if (a === use || b === use) return use;
  return FREE;
}

function stayingByLine(placed: readonly Placed[]): ReadonlyMap<string, readonly Placed[]> {
  const stays = placed.filter(({ replica }) => replica.state !== "draining");
  const ids = new Set(stays.map(({ replica }) => replica.id));
  const byLine = new Map<string, Placed[]>();
  for (const each of stays) {
    const { replaces } = each.replica;
    if (replaces !== undefined && ids.has(replaces)) continue;
    const before = byLine.get(each.line.id);
    if (before === undefined) byLine.set(each.line.id, [each]);
    else before.push(each);
  }
  return byLine;
}

/** What is to be placed where the line gets a replica. */
export function itemOf(fleet: Fleet, line: ModelView): Item {
  const { id, span, demand } = line;
  return { id, span, demand, allowed: fleet.allowed(line) };
}
