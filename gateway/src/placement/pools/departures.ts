import type { Fleet, Placed } from "./fleet.ts";
import { linesOf, type UsedModel } from "./model-use.ts";
import type { PoolAction, PoolsState } from "./types.ts";

/** What is let go, and why, whatever else is decided. */
export interface Departures {
  actions: readonly PoolAction[];
  gone: ReadonlySet<Placed>;
}

/**
 * The replicas that have no business any more:
 *
 * 1. Of an idle model: all.
 * 2. Of a model with lines that changed its pool: those of the pool that it left, once each part of the other serves.
 * 3. Of a stable model: more than one that serves; the one whose bins hold the fewest others goes first.
 */
export function departuresOf(fleet: Fleet, used: readonly UsedModel[], pools: PoolsState["pools"]): Departures {
  const gone = new Set<Placed>();
  const actions: PoolAction[] = [];
  const release = (placed: Placed, reason: string) => {
    if (placed.frozen || placed.replica.state === "draining" || gone.has(placed)) return;
    gone.add(placed);
    actions.push({ kind: "release", replica: placed.replica.id, reason });
  };
  const byModel = new Map<string, Placed[]>(used.map(({ view }) => [view.id, []]));
  for (const placed of fleet.placed) byModel.get(placed.model.id)?.push(placed);
  for (const { view, use } of used) {
    const replicas = byModel.get(view.id) ?? [];
    const pool = pools.get(view.id)?.pool ?? "stable";
    const serves = (line: { id: string }) => fleet.staying(line.id).some(({ replica }) => replica.state === "active");
    if (use === "idle") {
      // 1
      for (const placed of replicas) release(placed, `nothing has been asked of ${view.id} for a while`);
    } else if (view.lines !== undefined && (pool === "elastic" ? linesOf(view) : [view]).every(serves)) {
      // 2
      for (const placed of replicas) {
        if (placed.pool !== pool) release(placed, `${view.id} is served by the ${pool} pool`);
      }
    }
    // 3
    if (use !== "idle" && pool === "stable") {
      const serving = fleet.staying(view.id).filter(({ replica }) => replica.state === "active");
      const spare = [...serving].sort((a, b) => neighbours(fleet, a) - neighbours(fleet, b)).slice(0, -1);
      for (const placed of spare) release(placed, `one replica of ${view.id} is enough in the stable pool`);
    }
  }
  return { actions, gone };
}

function neighbours({ space }: Fleet, { bins }: Placed): number {
  return bins.reduce((sum, bin) => sum + (space.held[bin] ?? 0), 0);
}
