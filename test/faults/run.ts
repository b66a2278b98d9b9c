// `npm run test:faults`: misbehaving workers, engines, callers and systems before the built gateway and agent.
// Prints what became of every request; exits with 1 when one was lost, got another's bytes, or left something behind.
import { Cleanup } from "../harness/farmgate-process.ts";
import { clockFaults } from "./clocks/clock-jumps.ts";
import { type Options, parseOptions, usage } from "./options.ts";
import { broken, table } from "./report/table.ts";
import { runRounds } from "./rounds.ts";

function optionsOrUsage(): Options {
  try {
    return parseOptions(process.argv.slice(2), () => Math.floor(Math.random() * 1_000_000));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

const options = optionsOrUsage();
const began = performance.now();
console.log(`seed ${options.seed}, ${options.requests} requests in each round`);
const cleanup = new Cleanup();
process.exitCode = 1;
try {
  const { rows, prints, faults } = await runRounds(cleanup, options, (line) => console.error(line));
  const clocks = clockFaults(options.seed);
  for (const line of [table(rows), ...prints, ...clocks.told]) console.log(line);
  const found = [...broken(rows), ...faults, ...clocks.broken];
  for (const line of found) console.log(`BROKEN ${line}`);
  const rested = rows.filter(({ unrest }) => unrest === null).length;
  console.log(
    `at rest behind ${rested} of ${rows.length} rounds; ${Math.round((performance.now() - began) / 1_000)} s`,
  );
  if (found.length === 0) process.exitCode = 0;
} finally {
  await cleanup.run();
}
