// `npm run bench`: measures the gateway beside nginx and HAProxy on the same
// work, and the worker agent's scheduler before a long queue; prints the tables
// and writes them into the README.
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { measure } from "./measure.ts";
import { parseOptions, usage } from "./options.ts";
import type { Options } from "./options.ts";
import type { Children } from "./process/children.ts";
import { withChildren } from "./process/with-children.ts";
import { resultsText, type Section, withResults } from "./report/results-section.ts";
import { table } from "./report/table.ts";
import { measureScheduler } from "./scheduler/measure.ts";
import { schedulerTable } from "./scheduler/table.ts";

const readme = new URL("./README.md", import.meta.url);

async function run(children: Children, options: Options): Promise<void> {
  const began = performance.now();
  if (options.scenarios.length > 0) await measureGateway(options, children);
  if (options.scheduler) report("scheduler", schedulerTable(await measureScheduler(options.plan)), [], options);
  console.log(`${Math.round((performance.now() - began) / 1_000)} s`);
}

async function measureGateway(options: Options, children: Children): Promise<void> {
  const say = (line: string) => console.error(`measured: ${line}`);
  const { rows, names, notes, failures } = await measure(options, children, say);
  report("results", table(rows, names), notes, options);
  if (failures) process.exitCode = 1;
}

function report(section: Section, figures: string, notes: readonly string[], options: Options): void {
  const machine = { cores: availableParallelism(), node: process.versions.node };
  const results = resultsText(figures, machine, notes);
  console.log(`\n${results}\n`);
  if (options.write) writeFileSync(readme, withResults(readFileSync(readme, "utf8"), results, section));
}

await withChildren(() => parseOptions(process.argv.slice(2), process.env), usage, run);
