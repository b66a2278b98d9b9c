import { adapterFor, catalogModel } from "@farmgate/engines";
import type { ReportProblem } from "@farmgate/shared";
import type { AgentShape } from "../config.ts";

/**
 * What needs a swap script that knows `unload`. One that does not takes a model out of memory only by loading another
 * of its own, so that
 *
 * 1. no `ttl` can end a model's stay;
 * 2. it cannot make room in a memory budget;
 * 3. it cannot make room for a model that is not its own, when one swappable model is loaded at a time;
 * 4. its next load would take a pinned model of its own away.
 */
export function checkUnloading(config: AgentShape, report: ReportProblem): void {
  const { swap, models, engines, memory } = config;
  if (swap.unload || swap.command === undefined) return;
  const scripted = [...models.entries()].filter(([, { command }]) => command === undefined);
  for (const [i, { ttl }] of scripted) {
    if (ttl > 0) report(["models", i, "ttl"], "needs `swap.unload: true`: the script must know how to unload"); // (1)
  }
  if (memory.budget > 0) {
    if (scripted.length > 0) {
      report(["memory", "budget"], "needs `swap.unload: true`: the script must be able to make room"); // (2)
    }
    return;
  }
  const inLine = scripted.filter(([, { pinned }]) => !pinned);
  const otherHeld = engines.some(loadsOthers) || models.some(({ command, pinned }) => command !== undefined && !pinned);
  if (inLine.length > 0 && otherHeld) {
    report(
      ["swap", "unload"],
      "must be true: one swappable model is loaded at a time, and before a `command` or an engine loads one of its own, the script must unload its model", // (3)
    );
    return;
  }
  if (scripted.length < 2) return;
  for (const [i, { pinned }] of scripted) {
    if (pinned) {
      report(
        ["models", i, "pinned"],
        "needs `swap.unload: true`: a script that cannot unload replaces one of its models by the next",
      ); // (4)
    }
  }
}

/** As far as is known: an engine that has what it was started with, and nothing else ever, asks for no room. */
function loadsOthers({ engine }: AgentShape["engines"][number]): boolean {
  if (engine === "auto") return true;
  const adapter = adapterFor(engine);
  return adapter.loadsOnRequest || adapter.unload(catalogModel("any", "warm")).length > 0;
}
