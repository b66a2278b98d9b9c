import type { Clock, Random } from "@farmgate/shared";
import type { Cleanup } from "../../harness/farmgate-process.ts";
import { startGateway } from "../rig/gateway.ts";
import type { Rig } from "../rig/gateway.ts";
import { FaultyWorker } from "../rig/worker.ts";
import { goodRound, type Row } from "../round.ts";
import { WorkerProcess } from "./worker-process.ts";

/** Into the requests of a round, in milliseconds. */
const STRIKE_MS = 60;
/** A stopped process stays so for longer than any time-out of the gateway's. */
const STOPPED_MS = 2_500;

/** One of three workers is killed, or stopped for a while, under requests; and what is asked when it is back. */
export async function processRounds(
  cleanup: Cleanup,
  requests: number,
  random: Random,
  clock: Clock,
  isWanted: (name: string) => boolean,
): Promise<Row[]> {
  if (!["worker killed (kill -9)", "worker stopped (SIGSTOP)"].some(isWanted)) return [];
  const models = Array.from({ length: 20 }, (_, i) => `m-${i}`);
  const workers = [new WorkerProcess(models), new WorkerProcess(models), new WorkerProcess(models)];
  for (const worker of workers) await cleanup.add(worker, (process) => process.kill()).start();
  const listed = workers.map(({ url }, i) => ({ name: `w-${i}`, url, engine: "vllm" }));
  const front = await startGateway(cleanup, listed);
  // Nothing listens there: this rig's workers are processes.
  const rig: Rig = { front, faulty: new FaultyWorker([], clock), good: [], models, clock };
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve));
  const [victim] = workers;
  if (victim === undefined) return [];
  const during = async (name: string, strike: () => Promise<void>) => {
    const [row] = await Promise.all([goodRound(rig, name, 3 * requests, random, false), pause(STRIKE_MS).then(strike)]);
    return row;
  };
  const rows = [await during("worker killed (kill -9)", () => victim.kill())];
  await victim.start();
  rows.push(await goodRound(rig, "behind it: the killed worker is back", requests, random));
  rows.push(
    await during("worker stopped (SIGSTOP)", async () => {
      victim.signal("SIGSTOP");
      await pause(STOPPED_MS);
      victim.signal("SIGCONT");
    }),
  );
  rows.push(await goodRound(rig, "behind it: the stopped worker goes on", requests, random));
  return rows;
}
