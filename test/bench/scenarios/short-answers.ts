// (a) Short chat answers at a fixed concurrency: what one costs, and how many a second.
import { cpuMs } from "../process/proc-stat.ts";
import { rowOfRounds } from "../report/row.ts";
import type { Target } from "../targets/target.ts";
import { shortBody } from "./bodies.ts";
import { interleave } from "./interleave.ts";
import { figuresOf, namesOf, targetNamed } from "./scenario.ts";
import type { Bench, Scenario } from "./scenario.ts";

export const shortAnswers: Scenario = async (bench) => {
  const rounds = await interleave(namesOf(bench), bench.plan, (name) =>
    shortAnswersOf(bench, targetNamed(bench, name)),
  );
  return [
    rowOfRounds(
      "CPU per short answer, us",
      figuresOf(rounds, (round) => round.cpuUs),
      { of: "ratio", limit: 5, aim: 3 },
    ),
    rowOfRounds(
      "short answers a second",
      figuresOf(rounds, (round) => round.perSecond),
    ),
  ];
};

interface ShortAnswers {
  answers: number;
  cpuUs: number;
  perSecond: number;
}

/** One round of it. */
export async function shortAnswersOf(bench: Bench, target: Target): Promise<ShortAnswers> {
  let cpu = 0;
  const outcome = await bench.load.run(
    { kind: "closed-loop", port: target.port, body: shortBody, ...bench.plan.shortAnswers },
    { onOpen: () => (cpu -= cpuMs(target.pid)), onClose: () => (cpu += cpuMs(target.pid)) },
  );
  bench.failures("short answers", target, outcome);
  const { answers } = outcome;
  return { answers, cpuUs: (cpu * 1_000) / answers, perSecond: (answers * 1_000) / outcome.ms };
}
