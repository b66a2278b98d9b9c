// (g) The short answers of (a) through a gateway of two processes and two workers, and whether these two get the same
// number of streams.
import { rowOfRounds } from "../report/row.ts";
import type { Target } from "../targets/target.ts";
import { pacedStreamBody } from "./bodies.ts";
import { interleave } from "./interleave.ts";
import { figuresOf, namesOf, targetNamed } from "./scenario.ts";
import type { Bench, Scenario } from "./scenario.ts";
import { shortAnswersOf } from "./short-answers.ts";

const PROCESSES = 2;
const ALONE = "gateway";

export const processes: Scenario = async (bench) => {
  const several = await bench.freshGateway(PROCESSES);
  try {
    // The column of the gateway is that of several processes; that of one stands in the rows of (a).
    const targetOf = (name: string) => (name === ALONE ? several : targetNamed(bench, name));
    const rounds = await interleave(namesOf(bench), bench.plan, (name) => shortAnswersOf(bench, targetOf(name)));
    return [
      rowOfRounds(
        `CPU per short answer with ${PROCESSES} processes, us`,
        figuresOf(rounds, (round) => round.cpuUs),
      ),
      rowOfRounds(
        `short answers a second with ${PROCESSES} processes`,
        figuresOf(rounds, (round) => round.perSecond),
      ),
      {
        figure: `streams at the fuller of two workers beyond the other, of ${bench.plan.streamedChunks.streams}`,
        values: { [ALONE]: await unevenness(bench, several) },
        guide: { of: "value", limit: 2 },
      },
    ];
  } finally {
    await bench.endGateway(several);
  }
};

/** How many more streams one worker has than the other while all are open. */
async function unevenness(bench: Bench, gateway: Target): Promise<number> {
  const { streams: connections, ...times } = bench.plan.streamedChunks;
  const job = { kind: "held-streams" as const, port: gateway.port, connections, body: pacedStreamBody, ...times };
  let seen: Promise<string> = Promise.resolve("");
  const outcome = await bench.load.run(job, {
    onOpen: () => {
      seen = fetch(`http://127.0.0.1:${gateway.port}/metrics`).then((answer) => answer.text());
    },
    onClose: () => {},
  });
  bench.failures(`streams through ${PROCESSES} processes`, gateway, outcome);
  const counts = Array.from((await seen).matchAll(/^farmgate_inflight\{.*\} (\d+)$/gm), ([, count]) => Number(count));
  const sum = counts.reduce((total, count) => total + count, 0);
  if (sum !== connections) bench.note(`${sum} of ${connections} streams were counted.`);
  return Math.max(...counts) - Math.min(...counts);
}
