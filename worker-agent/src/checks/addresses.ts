import { isLoopback, type ReportProblem } from "@farmgate/shared";
import type { AgentShape } from "../config.ts";

/** A program that the agent starts needs its port for itself, and an engine is attached once. */
export function checkAddresses({ models, engines }: AgentShape, report: ReportProblem): void {
  const attached = new Map<string, string>();
  for (const [i, { url }] of engines.entries()) {
    const first = attached.get(listenerOf(url));
    if (first !== undefined) report(["engines", i, "url"], `is already the address of ${first}`);
    else attached.set(listenerOf(url), `engines[${i}]`);
  }
  for (const [i, { url, command }] of models.entries()) {
    // Of two models that share a port the later one is told of it, once.
    const shares = (other: (typeof models)[number]) =>
      (command !== undefined || other.command !== undefined) && listenerOf(other.url) === listenerOf(url);
    const first = models.slice(0, i).findIndex(shares);
    const owner = first >= 0 ? `models[${first}]` : command === undefined ? undefined : attached.get(listenerOf(url));
    if (owner === undefined) continue;
    report(["models", i, "url"], `is already the address of ${owner}: a \`command\` needs a port of its own`);
  }
}

/** The listener that a URL leads to: every name of this machine's own loopback is one. */
function listenerOf(url: string): string {
  const { protocol, hostname, port } = new URL(url);
  return `${protocol}//${isLoopback(hostname) ? "localhost" : hostname}:${port}`;
}
