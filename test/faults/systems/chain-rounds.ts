import type { Clock, Random } from "@farmgate/shared";
import type { Cleanup } from "../../harness/farmgate-process.ts";
import { workerFaults } from "../faults/all.ts";
import { PACED } from "../faults/pace.ts";
import { startAgentRig } from "../rig/agent.ts";
import { startGateway } from "../rig/gateway.ts";
import type { Rig } from "../rig/gateway.ts";
import { goodRound, type Row, workerRound } from "../round.ts";

/** What of an engine's faults has to come through an agent and a gateway. */
const FAULTS = [
  "reset byte 0",
  "reset in the head",
  "reset in a chunk",
  "fin between chunks",
  "stall in a chunk",
  "answers 500",
];
/** Into the requests of a round, in milliseconds. */
const STRIKE_MS = 60;

/** A gateway before an agent before a faulty engine; in the end the agent is killed under requests. */
export async function chainRounds(
  cleanup: Cleanup,
  requests: number,
  random: Random,
  clock: Clock,
  isWanted: (name: string) => boolean,
): Promise<Row[]> {
  const faults = workerFaults.filter(({ name }) => FAULTS.includes(name) && isWanted(`chain ${name}`));
  const killed = isWanted("chain agent killed (kill -9)");
  if (faults.length === 0 && !killed) return [];
  const behind = await startAgentRig(cleanup, clock);
  const front = await startGateway(cleanup, [{ name: "box", url: behind.front.url, engine: "agent" }]);
  const rig: Rig = { ...behind, front };
  const rows: Row[] = [];
  for (const fault of faults) {
    const row = await workerRound(rig, fault, requests, random);
    rows.push({ ...row, fault: `chain ${row.fault}` });
  }
  rows.push(await goodRound(rig, "behind it: the chain's engine is well", requests, random, false));
  if (!killed) return rows;
  await rig.faulty.set(PACED);
  const strike = new Promise<void>((resolve) => void clock.after(STRIKE_MS, resolve)).then(
    () => void behind.front.process.child.kill("SIGKILL"),
  );
  const [row] = await Promise.all([goodRound(rig, "chain agent killed (kill -9)", requests, random, false), strike]);
  return [...rows, row];
}
