// (g) The short answers of (a) through one process and through two, of the gateway with two workers and of nginx, and
// whether the workers get the same number of streams.
import { medianRatio } from "../report/median.ts";
import { type Row, rowOfRounds } from "../report/row.ts";
import type { Target } from "../targets/target.ts";
import { pacedStreamBody } from "./bodies.ts";
import { interleave } from "./interleave.ts";
import type { Bench, Scenario } from "./scenario.ts";
import { shortAnswersOf } from "./short-answers.ts";

const COUNTS = [1, 2] as const;
const SEVERAL = 2;

interface Contender {
  name: string;
  count: number;
  target: Target;
}

type Rounds = Record<string, { cpuUs: number; perSecond: number }[]>;

const idOf = (name: string, count: number) => `${name} ${count}`;

export const processes: Scenario = async (bench) => {
  const contenders: Contender[] = [];
  try {
    for (const count of COUNTS) {
      const nginx = await bench.freshNginx(count);
      if (nginx !== undefined) contenders.push({ name: "nginx", count, target: nginx });
      contenders.push({ name: "gateway", count, target: await bench.freshGateway(count) });
    }
    for (const { target } of contenders) await warmUp(bench, target);
    const targets = new Map(contenders.map(({ name, count, target }) => [idOf(name, count), target]));
    const rounds: Rounds = await interleave([...targets.keys()], bench.plan, (id) =>
      shortAnswersOf(bench, targets.get(id) as Target),
    );
    const several = targets.get(idOf("gateway", SEVERAL)) as Target;
    return [
      ...COUNTS.flatMap((count) => rowsOf(contenders, rounds, count)),
      ratioRow(contenders, rounds),
      {
        figure: `streams at the fuller of two workers beyond the other, of ${bench.plan.streamedChunks.streams}`,
        values: { gateway: await unevenness(bench, several) },
        guide: { of: "value", limit: 2 },
      },
    ];
  } finally {
    for (const { target } of contenders) await bench.end(target);
  }
};

/** Whichever is slower would be younger when it is measured, and so dearer still. */
async function warmUp(bench: Bench, target: Target): Promise<void> {
  const until = performance.now() + bench.plan.processes.warmupMostMs;
  for (let answers = 0; answers < bench.plan.processes.warmupAnswers && performance.now() < until; ) {
    answers += (await shortAnswersOf(bench, target)).answers;
  }
}

function rowsOf(contenders: readonly Contender[], rounds: Rounds, count: number): Row[] {
  const those = contenders.filter((contender) => contender.count === count);
  const figures = (figure: "cpuUs" | "perSecond") =>
    Object.fromEntries(
      those.map(({ name }) => [name, (rounds[idOf(name, count)] ?? []).map((round) => round[figure])]),
    );
  const named = count === 1 ? "1 process" : `${count} processes`;
  return [
    rowOfRounds(`CPU per short answer with ${named}, us`, figures("cpuUs")),
    rowOfRounds(`short answers a second with ${named}`, figures("perSecond")),
  ];
}

/** What all processes together need for an answer, by what one alone needs, round by round. */
function ratioRow(contenders: readonly Contender[], rounds: Rounds): Row {
  const cpu = (name: string, count: number) => (rounds[idOf(name, count)] ?? []).map(({ cpuUs }) => cpuUs);
  const names = new Set(contenders.map(({ name }) => name));
  const values = Object.fromEntries([...names].map((name) => [name, medianRatio(cpu(name, SEVERAL), cpu(name, 1))]));
  return { figure: `CPU per short answer, ${SEVERAL} processes : 1`, values, guide: { of: "value", limit: 1.6 } };
}

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
  bench.failures(`streams through ${SEVERAL} processes`, gateway, outcome);
  const counts = Array.from((await seen).matchAll(/^farmgate_inflight\{.*\} (\d+)$/gm), ([, count]) => Number(count));
  const sum = counts.reduce((total, count) => total + count, 0);
  if (sum !== connections) bench.note(`${sum} of ${connections} streams were counted.`);
  return Math.max(...counts) - Math.min(...counts);
}
