import { isHashedKey } from "@farmgate/shared";
import type { AgentConfig } from "@farmgate/worker-agent";
import type { FarmEngine } from "./farm-schema.ts";

/** A worker as it would be written in the gateway's file. */
interface WrittenWorker {
  name: string;
  url: string;
  ca?: string;
  engine?: string;
  apiKey?: string;
}

/**
 * The workers of a farm file that names none: its agents, or its engines when it has no agents. Two of one name are a
 * problem of the agents' own list; the gateway's would only repeat it.
 */
export function derivedWorkers(parts: {
  agents: readonly AgentConfig[];
  engines: readonly FarmEngine[];
}): WrittenWorker[] {
  const engineWorker = (engine: FarmEngine): WrittenWorker => ({ name: engine.name, url: urlOf(engine.listen) });
  const workers = parts.agents.length > 0 ? parts.agents.map(agentWorker) : parts.engines.map(engineWorker);
  return [...new Map(workers.map((worker) => [worker.name, worker])).values()];
}

function agentWorker(agent: AgentConfig): WrittenWorker {
  const { name, listen, tls } = agent;
  const secure = tls !== null;
  // Of an agent in the same file its very certificate is known, whoever signed that.
  const worker = { name, url: urlOf(listen, secure), engine: "agent", ...(secure && { ca: tls.cert }) };
  // The first key that may use every model is the gateway's; an agent of the same file is no stranger. Of a hash nobody
  // can make the key.
  const key = agent.keys.find((entry) => entry.models.includes("*") && !isHashedKey(entry.key));
  return key === undefined ? worker : { ...worker, apiKey: key.key };
}

/** Where another program of this machine reaches a listener; `secure`: by HTTPS. */
export function urlOf(listen: { host: string; port: number }, secure: boolean = false): string {
  const everywhere = listen.host === "0.0.0.0" || listen.host === "::" || listen.host === "[::]";
  const host = everywhere ? "127.0.0.1" : listen.host;
  return `${secure ? "https" : "http"}://${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${listen.port}`;
}
