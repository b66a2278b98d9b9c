// (d) Prompts of 220 KB at a fixed rate, whether or not the earlier ones are
// answered: what a proxy adds to the time to first byte.
import { percentile } from "../report/median.ts";
import { rowOfRounds } from "../report/row.ts";
import { longPromptBody } from "./bodies.ts";
import { interleave } from "./interleave.ts";
import { namesOf, targetNamed } from "./scenario.ts";
import type { Bench, Scenario } from "./scenario.ts";

const DIRECT = "direct";

export const longPrompts: Scenario = async (bench) => {
  const { rounds, perSecond } = bench.plan.longPrompts;
  const names = [DIRECT, ...namesOf(bench)];
  const { [DIRECT]: direct = [], ...through } = await interleave(names, { rounds, warmups: 1 }, (name) =>
    once(bench, name),
  );
  const added = (share: number) => {
    const entries = Object.entries(through).map(([name, rounds]): [string, number[]] => [
      name,
      rounds.map((times, round) => percentile(times, share) - percentile(direct[round] ?? [], share)),
    ]);
    return Object.fromEntries(entries);
  };
  const figure = `added time to first byte, 220 KB prompts, ${perSecond} a second`;
  const { ratio: _, ...middle } = rowOfRounds(`${figure}, ms`, added(0.5), { of: "value", limit: 10, unit: "ms" });
  const { ratio: __, ...slow } = rowOfRounds(`${figure}, 99th percentile, ms`, added(0.99));
  return [middle, slow];
};

async function once(bench: Bench, name: string): Promise<number[]> {
  const { rounds: _, ...times } = bench.plan.longPrompts;
  const target = name === DIRECT ? undefined : targetNamed(bench, name);
  const port = target?.port ?? bench.stubPort;
  const outcome = await bench.load.run({ kind: "open-loop", port, body: longPromptBody, ...times });
  bench.failures("long prompts", target, outcome);
  return outcome.firstEventMs[0] ?? [];
}
