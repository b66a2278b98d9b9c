import { parseArgs } from "node:util";
import { fullPlan, quickPlan } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { scenarios } from "./scenarios/all.ts";
import type { Scenario } from "./scenarios/scenario.ts";

export interface Options {
  plan: Plan;
  /** Of the gateway beside the proxies; none: they are not started. */
  scenarios: Scenario[];
  /** Whether the worker agent's scheduler is measured. */
  scheduler: boolean;
  /** Whether the results go into the README. */
  write: boolean;
  /** Another gateway in place of the project's own. */
  gateway?: string;
}

const SCHEDULER = "scheduler";

export const usage = `npm run bench -- [--quick] [--only NAME]... [--write]

  --quick       shorter, below a minute, and less exact
  --only NAME   one scenario, may be given several times: ${[...Object.keys(scenarios), SCHEDULER].join(", ")}
  --write       write the README's results although the run is quick, partial or of another gateway

BENCH_GATEWAY="node prototype.mjs {port} {upstream}" measures another gateway.`;

/** A whole run of the project's own gateway writes the README by itself. */
export function parseOptions(args: string[], env: Record<string, string | undefined>): Options {
  const { values } = parseArgs({
    args,
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string", multiple: true, default: [] },
      write: { type: "boolean", default: false },
    },
  });
  const named = values.only.filter((name) => name !== SCHEDULER);
  const only = named.map((name) => {
    const scenario = scenarios[name];
    if (scenario === undefined) throw new Error(`no scenario ${name}`);
    return scenario;
  });
  const gateway = env["BENCH_GATEWAY"] || undefined;
  return {
    plan: values.quick ? quickPlan : fullPlan,
    scenarios: values.only.length > 0 ? only : Object.values(scenarios),
    scheduler: values.only.length === 0 || values.only.includes(SCHEDULER),
    write: values.write || (!values.quick && values.only.length === 0 && gateway === undefined),
    ...(gateway && { gateway }),
  };
}
