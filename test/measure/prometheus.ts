// `npm run measure -- prometheus`: a real Prometheus over a running farm; each query of the dashboard and each rule is put
// to it, and one that fails or finds nothing is a failure.
import { setTimeout as sleep } from "node:timers/promises";
import type { Children } from "../bench/process/children.ts";
import { aligned } from "../bench/report/table.ts";
import { evaluate } from "./watched/evaluate.ts";
import { startWatchedFarm } from "./watched/farm.ts";
import { drive } from "./watched/load.ts";

/** How long the farm is asked. */
const SECONDS = 40;

export async function measurePrometheus(children: Children, { quick }: { quick: boolean }): Promise<void> {
  const seconds = quick ? 20 : SECONDS;
  const farm = await startWatchedFarm(children);
  console.error(`measured for ${seconds} s`);
  const statuses = await drive(farm.gateway, seconds);
  // Two more scrapes, and the rules after them.
  await sleep(2_500);
  const results = await evaluate(farm.prometheus, seconds);
  const asked = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} x ${status}`);
  console.log(`\nrequests: ${asked.join(", ")}\n`);
  const rows = results.map(({ from, series, sample, fault }) => [from, String(series), fault ?? sample ?? "-"]);
  console.log(aligned([["query", "series", "one of them"], ...rows]));
  const faults = results.filter(({ fault }) => fault !== null);
  console.log(`\n${results.length} queries, ${faults.length} failed`);
  if (faults.length > 0) {
    throw new Error(faults.map(({ from, fault, expr }) => `${from}: ${fault ?? ""}\n  ${expr}`).join("\n"));
  }
}
