// `npm run test:faults`: misbehaving workers, engines, callers and systems before the built gateway and agent.
// Prints what became of every request; exits with 1 when one was lost, got another's bytes, or left something behind.
import { type Random, seededRandom } from "@farmgate/shared";
import { createSystemClock } from "@farmgate/wire";
import { Cleanup } from "../harness/farmgate-process.ts";
import { workerFaults } from "./faults/all.ts";
import { type Options, parseOptions, usage } from "./options.ts";
import { broken, table } from "./report/table.ts";
import { startAgentRig } from "./rig/agent.ts";
import { type Footprint, footprint } from "./rig/front.ts";
import { type Rig, startGatewayRig } from "./rig/gateway.ts";
import { type Row, runRound } from "./round.ts";

const clock = createSystemClock();

function optionsOrUsage(): Options {
  try {
    return parseOptions(process.argv.slice(2), () => Math.floor(Math.random() * 1_000_000));
  } catch (error) {
    console.error(`${(error as Error).message}\n\n${usage}`);
    process.exit(2);
  }
}

/** Every fault of a worker before this front, and what it left of fds and memory. */
async function workerRounds(rig: Rig, { requests, only }: Options, random: Random, rows: Row[]): Promise<string[]> {
  const wanted = workerFaults.filter(({ name }) => isWanted(only, `${rig.front.kind} ${name}`));
  if (wanted.length === 0) return [];
  await runRound(rig, { name: "none", phase: "end" }, 50, random);
  const before = await footprint(rig.front);
  for (const fault of wanted) {
    const row = await runRound(rig, fault, requests, random);
    rows.push(row);
    const { lost, wrong } = { lost: row.verdicts.filter(({ end }) => end === "lost"), wrong: row.verdicts.filter(({ end }) => end === "wrong") };
    console.error(`${rig.front.kind}, ${fault.name}: ${lost.length} lost, ${wrong.length} wrong${row.unrest === null ? "" : `, ${row.unrest}`}`);
  }
  await clock_pause(5_000);
  return grown(rig.front.kind, before, await footprint(rig.front));
}

function clock_pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function isWanted(only: readonly string[], name: string): boolean {
  return only.length === 0 || only.some((part) => name.includes(part));
}

function grown(kind: string, before: Footprint, after: Footprint): string[] {
  console.log(`${kind}: fds ${before.fds} -> ${after.fds}, memory ${before.rssMb} -> ${after.rssMb} MB`);
  const told: string[] = [];
  if (after.fds > before.fds + 40) told.push(`${kind}: fds grew from ${before.fds} to ${after.fds}`);
  if (after.rssMb > before.rssMb + 150) told.push(`${kind}: memory grew from ${before.rssMb} to ${after.rssMb} MB`);
  return told;
}

const options = optionsOrUsage();
const cleanup = new Cleanup();
const rows: Row[] = [];
const faults: string[] = [];
console.log(`seed ${options.seed}, ${options.requests} requests in each round`);
const random = seededRandom(options.seed);
try {
  for (const start of [startGatewayRig, startAgentRig]) {
    faults.push(...(await workerRounds(await start(cleanup, random, clock), options, random, rows)));
  }
} finally {
  await cleanup.run();
}
console.log(table(rows));
faults.push(...broken(rows));
for (const fault of faults) console.log(`BROKEN ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;
