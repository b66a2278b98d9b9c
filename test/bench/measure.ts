// One run of the bench: starts what is measured, lets the scenarios measure it.
import { LoadClient } from "./load/client.ts";
import type { Options } from "./options.ts";
import type { Children } from "./process/children.ts";
import type { Row } from "./report/row.ts";
import type { Bench } from "./scenarios/scenario.ts";
import { startGateway } from "./targets/gateway.ts";
import { startHaproxy } from "./targets/haproxy.ts";
import { startNginx } from "./targets/nginx.ts";
import type { Target } from "./targets/target.ts";

export interface Results {
  rows: Row[];
  names: string[];
  notes: string[];
  /** Whether any request failed that should not have. */
  failures: boolean;
}

export async function measure(options: Options, children: Children, say: (line: string) => void): Promise<Results> {
  const notes: string[] = [];
  const failed = new Map<string, number>();
  const stub = children.fork(new URL("./stub/main.ts", import.meta.url));
  const { port: stubPort } = (await children.message(stub)) as { port: number };
  const load = await LoadClient.start(children);

  const targets: Target[] = [];
  for (const [name, start] of Object.entries({ nginx: startNginx, haproxy: startHaproxy })) {
    const target = await start(children, stubPort);
    if (target !== undefined) targets.push(target);
    else notes.push(`No ${name} on this machine, so no figures for it: \`apt-get install ${name}\`.`);
  }
  targets.push(await startGateway(children, stubPort, options.gateway));

  const bench: Bench = {
    plan: options.plan,
    load,
    stubPort,
    targets,
    freshGateway: (processes) => startGateway(children, stubPort, options.gateway, processes),
    freshNginx: (processes) => startNginx(children, stubPort, processes),
    end: ({ child }) => children.end(child),
    note: (text) => notes.push(text),
    failures: (scenario, target, { failures }) => {
      const where = target === undefined ? scenario : `${scenario} through ${target.name}`;
      if (failures > 0) failed.set(where, (failed.get(where) ?? 0) + failures);
    },
  };
  const rows: Row[] = [];
  for (const scenario of options.scenarios) {
    const measured = await scenario(bench);
    for (const row of measured) say(row.figure);
    rows.push(...measured);
  }
  for (const [where, count] of failed) notes.push(`${count} requests failed: ${where}.`);
  return { rows, names: targets.map((target) => target.name), notes, failures: failed.size > 0 };
}
