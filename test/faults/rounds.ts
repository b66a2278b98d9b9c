import { type Random, seededRandom } from "@farmgate/shared";
import { createSystemClock } from "@farmgate/wire";
import type { Cleanup } from "../harness/farmgate-process.ts";
import { callerFaults } from "./callers/caller-faults.ts";
import { workerFaults } from "./faults/all.ts";
import type { Options } from "./options.ts";
import { startAgentRig } from "./rig/agent.ts";
import { type Footprint, footprint } from "./rig/front.ts";
import { type Rig, startGatewayRig } from "./rig/gateway.ts";
import { callerRound, goodRound, type Row, workerRound } from "./round.ts";
import { chainRounds } from "./systems/chain-rounds.ts";
import { processRounds } from "./systems/process-rounds.ts";
import { systemRounds } from "./systems/system-rounds.ts";

/** Growth that is no leak: idle connections, and a heap that was not yet collected. */
const MORE_FDS = 40;
const MORE_MB = 150;
/** Idle connections to workers are closed by then, in milliseconds. */
const IDLE_MS = 5_000;

interface Outcome {
  rows: Row[];
  /** What the processes took before and after. */
  prints: string[];
  /** What grew beyond reason. */
  faults: string[];
}

/** Runs every round that is wanted, one after the other; `say` is told of each. */
export async function runRounds(cleanup: Cleanup, options: Options, say: (line: string) => void): Promise<Outcome> {
  const { seed, requests, only } = options;
  const clock = createSystemClock();
  const random = seededRandom(seed);
  const outcome: Outcome = { rows: [], prints: [], faults: [] };
  const isWanted = (name: string) => only.length === 0 || only.some((part) => name.includes(part));
  const add = (row: Row) => {
    outcome.rows.push(row);
    const bad = row.verdicts.filter(({ end }) => end === "lost" || end === "wrong").length;
    say(
      `${row.front}, ${row.fault}: ${row.verdicts.length} sent, ${bad} lost or wrong${row.unrest ? `, ${row.unrest}` : ""}`,
    );
  };
  for (const [kind, start] of [
    ["gateway", startGatewayRig],
    ["agent", startAgentRig],
  ] as const) {
    const rounds: ((rig: Rig) => Promise<Row>)[] = [
      ...workerFaults
        .filter(({ name }) => isWanted(`${kind} ${name}`))
        .map((fault) => (rig: Rig) => workerRound(rig, fault, requests, random)),
      ...callerFaults
        .filter(({ name }) => isWanted(`${kind} caller ${name}`))
        .map((fault) => (rig: Rig) => callerRound(rig, fault, requests, random)),
    ];
    if (rounds.length > 0) await onOneRig(await start(cleanup, clock), rounds, random, add, outcome);
  }
  for (const row of await chainRounds(cleanup, requests, random, clock, isWanted)) add(row);
  for (const row of await processRounds(cleanup, requests, random, clock, isWanted)) add(row);
  for (const row of await systemRounds(cleanup, requests, random, clock, isWanted)) add(row);
  return outcome;
}

async function onOneRig(
  rig: Rig,
  rounds: readonly ((rig: Rig) => Promise<Row>)[],
  random: Random,
  add: (row: Row) => void,
  { prints, faults }: Outcome,
): Promise<void> {
  const { kind } = rig.front;
  add(await goodRound(rig, "none, to begin with", 48, random));
  const before = await footprint(rig.front);
  for (const round of rounds) add(await round(rig));
  add(await goodRound(rig, "none, in the end", 48, random, false));
  await new Promise<void>((resolve) => void rig.clock.after(IDLE_MS, resolve));
  const after = await footprint(rig.front);
  prints.push(`${kind}: ${words(before)} before, ${words(after)} after its rounds`);
  if (after.fds > before.fds + MORE_FDS) faults.push(`${kind}: fds grew from ${before.fds} to ${after.fds}`);
  if (after.rssMb > before.rssMb + MORE_MB) faults.push(`${kind}: grew from ${before.rssMb} to ${after.rssMb} MB`);
}

function words({ fds, rssMb }: Footprint): string {
  return `${fds} fds, ${rssMb} MB`;
}
