import type { ReportProblem } from "@farmgate/shared";
import type { AgentShape } from "../config.ts";
import { addressOf, listenerOf } from "../served-model.ts";

/** An engine is attached once. */
export function checkEngines({ engines }: AgentShape, report: ReportProblem): void {
  for (const [i, { url }] of engines.entries()) {
    const first = engines.findIndex((other) => addressOf(other.url) === addressOf(url));
    if (first < i) report(["engines", i, "url"], `is already the address of engines[${first}]`);
  }
}

/** A program that the agent starts has its port for itself. Of two that share one the later is told of it. */
export function checkPorts({ models, engines }: AgentShape, report: ReportProblem): void {
  for (const [i, { url, command }] of models.entries()) {
    const shares = (other: { url: string }) => listenerOf(other.url) === listenerOf(url);
    const before = models.slice(0, i).findIndex((other) => (command ?? other.command) !== undefined && shares(other));
    const engine = command === undefined ? -1 : engines.findIndex(shares);
    if (before < 0 && engine < 0) continue;
    const owner = before < 0 ? `engines[${engine}]` : `models[${before}]`;
    report(["models", i, "url"], `is already the address of ${owner}: a \`command\` needs a port of its own`);
  }
}
