// (c) What a proxy adds to the time to first byte while nothing else goes on.
import { median } from "../report/median.ts";
import type { Row } from "../report/row.ts";
import { briefStreamBody } from "./bodies.ts";
import type { Scenario } from "./scenario.ts";

export const firstByte: Scenario = async (bench) => {
  const { load, targets, stubPort, plan } = bench;
  const ports = [stubPort, ...targets.map((target) => target.port)];
  const outcome = await load.run({ kind: "sequential", ports, body: briefStreamBody, ...plan.firstByte });
  bench.failures("first byte", undefined, outcome);
  const [direct = Number.NaN, ...through] = outcome.firstEventMs.map(median);
  const added = targets.map((target, index) => [target.name, (through[index] ?? Number.NaN) - direct]);
  const row: Row = {
    figure: "added time to first byte, idle, ms",
    values: Object.fromEntries(added),
    guide: { of: "value", limit: 1, unit: "ms" },
  };
  return [row];
};
