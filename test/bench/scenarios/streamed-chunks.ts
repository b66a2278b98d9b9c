// (b) Streams of small chunks: what passing one on costs.
import { cpuMs } from "../process/proc-stat.ts";
import { rowOfRounds } from "../report/row.ts";
import type { Target } from "../targets/target.ts";
import { pacedStreamBody } from "./bodies.ts";
import { interleave } from "./interleave.ts";
import { namesOf, targetNamed } from "./scenario.ts";
import type { Bench, Scenario } from "./scenario.ts";

export const streamedChunks: Scenario = async (bench) => {
  const rounds = await interleave(namesOf(bench), bench.plan, (name) => once(bench, targetNamed(bench, name)));
  return [rowOfRounds("CPU per streamed chunk, us", rounds, { of: "ratio", limit: 2.7, aim: 2 })];
};

async function once(bench: Bench, target: Target): Promise<number> {
  const { streams, ...times } = bench.plan.streamedChunks;
  let cpu = 0;
  const outcome = await bench.load.run(
    { kind: "held-streams", port: target.port, body: pacedStreamBody, connections: streams, ...times },
    { onOpen: () => (cpu -= cpuMs(target.pid)), onClose: () => (cpu += cpuMs(target.pid)) },
  );
  bench.failures("streamed chunks", target, outcome);
  return (cpu * 1_000) / outcome.events;
}
