// Rounds that go through all targets in turn, so that a machine that is slow
// for a while is slow for each of them.

/**
 * What `measure` gave for each name, in `rounds` rounds. One more round goes before
 * them and is thrown away: a young process is several times as dear.
 */
export async function interleave<Name extends string, Figure>(
  names: readonly Name[],
  rounds: number,
  measure: (name: Name) => Promise<Figure>,
): Promise<Record<Name, Figure[]>> {
  const figures = Object.fromEntries(names.map((name) => [name, [] as Figure[]])) as Record<Name, Figure[]>;
  for (let round = -1; round < rounds; round++) {
    for (const name of names) {
      const figure = await measure(name);
      if (round >= 0) figures[name].push(figure);
    }
  }
  return figures;
}
