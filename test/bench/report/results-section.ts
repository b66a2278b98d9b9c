// The part of the README that a run of the bench writes.

const BEGIN = "<!-- results: begin -->";
const END = "<!-- results: end -->";

export interface Machine {
  cores: number;
  node: string;
}

/** The text under the table's heading: what ran where, and what must be known beside the figures. */
export function resultsText(table: string, machine: Machine, notes: readonly string[]): string {
  const where = `${machine.cores} ${machine.cores === 1 ? "core" : "cores"}, Node ${machine.node}.`;
  return [where, "", table, ...(notes.length > 0 ? ["", ...notes.map((note) => `* ${note}`)] : [])].join("\n");
}

export function withResults(readme: string, results: string): string {
  const begin = readme.indexOf(BEGIN);
  const end = readme.indexOf(END);
  if (begin === -1 || end < begin) throw new Error(`no ${BEGIN} ... ${END} to write the results between`);
  return `${readme.slice(0, begin + BEGIN.length)}\n${results}\n${readme.slice(end)}`;
}
