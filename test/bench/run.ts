// `npm run bench`: measures the gateway beside nginx and HAProxy on the same
// work, prints the table and writes it into the README.
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { measure } from "./measure.ts";
import { parseOptions, usage } from "./options.ts";
import type { Options } from "./options.ts";
import { Children } from "./process/children.ts";
import { resultsText, withResults } from "./report/results-section.ts";
import { table } from "./report/table.ts";

const readme = new URL("./README.md", import.meta.url);

function optionsOrUsage(): Options {
  try {
    return parseOptions(process.argv.slice(2), process.env);
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

async function run(options: Options, children: Children): Promise<void> {
  const began = performance.now();
  const { rows, names, notes, failures } = await measure(options, children, (line) =>
    console.error(`measured: ${line}`),
  );
  const machine = { cores: availableParallelism(), node: process.versions.node };
  const results = resultsText(table(rows, names), machine, notes);
  console.log(`\n${results}\n\n${Math.round((performance.now() - began) / 1_000)} s`);
  if (options.write) writeFileSync(readme, withResults(readFileSync(readme, "utf8"), results));
  if (failures) process.exitCode = 1;
}

const options = optionsOrUsage();
if (process.platform !== "linux") {
  console.error("The bench reads CPU time and memory under /proc and so runs on Linux only.");
  process.exit(2);
}
const children = new Children();
let interrupted = false;
process.once("exit", () => children.killAll());
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    interrupted = true;
    void children.endAll().then(() => process.exit(130));
  });
}
try {
  await run(options, children);
} catch (error) {
  // After an interruption whatever was running fails, which is no news.
  if (!interrupted) console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  await children.endAll();
}
