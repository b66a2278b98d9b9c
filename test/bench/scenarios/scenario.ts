import type { LoadClient } from "../load/client.ts";
import type { Outcome } from "../load/jobs.ts";
import type { Plan } from "../plan.ts";
import type { Row } from "../report/row.ts";
import type { Target } from "../targets/target.ts";

/** What every scenario works with. */
export interface Bench {
  plan: Plan;
  load: LoadClient;
  stubPort: number;
  /** The proxies in the order in which each round goes through them. */
  targets: Target[];
  /** A gateway that has served nothing yet. With `processes` it has two workers, both of them the stub. */
  freshGateway(processes?: number): Promise<Target>;
  /** One more nginx; undefined where there is none on this machine. */
  freshNginx(processes: number): Promise<Target | undefined>;
  end(fresh: Target): Promise<void>;
  /** Something that a reader of the figures must know. */
  note(text: string): void;
  /** Notes the failures of an outcome, if it has any; no target: several were asked. */
  failures(scenario: string, target: Target | undefined, outcome: Outcome): void;
}

export type Scenario = (bench: Bench) => Promise<Row[]>;

export function namesOf(bench: Bench): string[] {
  return bench.targets.map((target) => target.name);
}

export function targetNamed(bench: Bench, name: string): Target {
  const found = bench.targets.find((target) => target.name === name);
  if (found === undefined) throw new Error(`no target ${name}`);
  return found;
}

/** One figure out of the several that a round gave. */
export function figuresOf<Round>(
  rounds: Record<string, Round[]>,
  figure: (round: Round) => number,
): Record<string, number[]> {
  return Object.fromEntries(Object.entries(rounds).map(([name, all]) => [name, all.map(figure)]));
}
