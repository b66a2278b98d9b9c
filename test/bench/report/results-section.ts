// The parts of the README that a run of the bench writes.

/** `results`: of the gateway beside the proxies. */
export type Section = "results" | "scheduler";

export interface Machine {
  cores: number;
  node: string;
}

/** The text under the table's heading: what ran where, and what must be known beside the figures. */
export function resultsText(table: string, machine: Machine, notes: readonly string[]): string {
  const where = `${machine.cores} ${machine.cores === 1 ? "core" : "cores"}, Node ${machine.node}.`;
  return [where, "", table, ...(notes.length > 0 ? ["", ...notes.map((note) => `* ${note}`)] : [])].join("\n");
}

export function withResults(readme: string, results: string, section: Section = "results"): string {
  const [opening, closing] = [`<!-- ${section}: begin -->`, `<!-- ${section}: end -->`];
  const begin = readme.indexOf(opening);
  const end = readme.indexOf(closing);
  if (begin === -1 || end < begin) throw new Error(`no ${opening} ... ${closing} to write the results between`);
  return `${readme.slice(0, begin + opening.length)}\n${results}\n${readme.slice(end)}`;
}
