// Rounds that go through all targets in turn, so that a machine that is slow
// for a while is slow for each of them.

import type { Plan } from "../plan.ts";

/**
 * What `measure` gave for each name, in `rounds` rounds. `warmups` more rounds go before
 * them and are thrown away: a young process is several times as dear, one with much
 * code for longer, and a gateway runs for months.
 */
export async function interleave<Name extends string, Figure>(
  names: readonly Name[],
  { rounds, warmups }: Pick<Plan, "rounds" | "warmups">,
  measure: (name: Name) => Promise<Figure>,
): Promise<Record<Name, Figure[]>> {
  const figures = Object.fromEntries(names.map((name) => [name, [] as Figure[]])) as Record<Name, Figure[]>;
  for (let round = -warmups; round < rounds; round++) {
    for (const name of names) {
      const figure = await measure(name);
      if (round >= 0) figures[name].push(figure);
    }
  }
  return figures;
}
