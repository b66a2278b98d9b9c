import { isLoopback, type ReportProblem } from "@farmgate/shared";
import type { AgentShape } from "../config.ts";
import { addressOf, listenerOf } from "../served-model.ts";

/** An engine is attached once. */
export function checkEngines({ engines }: AgentShape, report: ReportProblem): void {
  const firsts = new Map<string, number>();
  for (const [i, { url }] of engines.entries()) {
    const first = firsts.get(addressOf(url));
    if (first === undefined) firsts.set(addressOf(url), i);
    else report(["engines", i, "url"], `is already the address of engines[${first}]`);
  }
}

/** A program that the agent starts has its port for itself. Of two that share one the later is told of it. */
export function checkPorts({ models, engines }: AgentShape, report: ReportProblem): void {
  const taken = {
    engines: new Map<string, number>(),
    models: new Map<string, number>(),
    commands: new Map<string, number>(),
  };
  const take = (by: keyof typeof taken, listener: string, i: number) => {
    if (!taken[by].has(listener)) taken[by].set(listener, i);
  };
  for (const [i, { url }] of engines.entries()) take("engines", listenerOf(url), i);
  for (const [i, { url, command }] of models.entries()) {
    const listener = listenerOf(url);
    const before = taken[command === undefined ? "commands" : "models"].get(listener);
    const engine = command === undefined ? undefined : taken.engines.get(listener);
    take("models", listener, i);
    if (command !== undefined) take("commands", listener, i);
    if (before === undefined && engine === undefined) continue;
    const owner = before === undefined ? `engines[${engine}]` : `models[${before}]`;
    report(["models", i, "url"], `is already the address of ${owner}: a \`command\` needs a port of its own`);
  }
}

/** An agent that takes itself for an engine would pass its requests on to itself. */
export function checkOwnAddress({ listen, models, engines }: AgentShape, report: ReportProblem): void {
  const isOwn = (url: string) => {
    const { protocol, hostname, port } = new URL(url);
    const isHere = reachedBy(listen.host) === reachedBy(hostname);
    return isHere && (Number(port) || DEFAULT_PORTS[protocol]) === listen.port;
  };
  for (const [kind, list] of Object.entries({ models, engines })) {
    for (const [i, { url }] of list.entries()) {
      if (isOwn(url)) report([kind, i, "url"], "is the address on which this agent itself listens");
    }
  }
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/** A name for a host that is this machine alone or, to listen on, any address of it. */
function reachedBy(host: string): string {
  return isLoopback(host) || host === "0.0.0.0" || host === "::" || host === "[::]" ? "localhost" : host;
}
