import { longestStopMs as agentStopMs } from "@farmgate/worker-agent";
import { urlOf } from "../config/derived-workers.ts";
import type { Farm } from "../config/farm-schema.ts";

/** One process of the farm. */
export interface ProcessPlan {
  /** As people read it: `gateway`, `agent mac`. */
  title: string;
  role: "gateway" | "agent" | "engine";
  /** For `farmgate`. */
  args: readonly string[];
  listen: { host: string; port: number };
  /** What to change when the port is taken. */
  portKey: string;
  /** Answers once the program is up. */
  readyUrl: string;
  /** The certificate that it shows, as PEM; null: it speaks plain HTTP. */
  shows: string | null;
  /** How long its running answers, and an agent's commands, may take at the end; in milliseconds. */
  drainMs: number;
}

/** Time that a program may need beyond its drain before it is ended hard, in milliseconds. */
export const STOP_MARGIN_MS = 8_000;

/** The longest that stopping them one role after the other may take, in milliseconds. */
export function longestStopMs(plans: readonly ProcessPlan[]): number {
  const longest = (role: ProcessPlan["role"]) =>
    Math.max(0, ...plans.filter((plan) => plan.role === role).map((plan) => plan.drainMs + STOP_MARGIN_MS));
  return longest("gateway") + longest("agent") + longest("engine");
}

/** The certificates of a farm's programs, as PEM; null: that one speaks plain HTTP. */
export interface ShownCertificates {
  gateway: string | null;
  /** In their order. */
  agents: readonly (string | null)[];
}

/** In the order in which they start: whoever is asked at the start is up before the one who asks. */
export function processPlans(
  farm: Farm,
  file: string,
  portFlag: number | null,
  shown: ShownCertificates = { gateway: null, agents: [] },
): ProcessPlan[] {
  return [
    ...farm.engines.map(
      (engine, i): ProcessPlan => ({
        title: `engine ${engine.name}`,
        role: "engine",
        args: ["engine", "--config", file, "--name", engine.name],
        listen: engine.listen,
        portKey: `engines[${i}].listen.port`,
        readyUrl: `${urlOf(engine.listen)}/health`,
        shows: null,
        drainMs: 0,
      }),
    ),
    ...farm.agents.map(
      (agent, i): ProcessPlan => ({
        title: `agent ${agent.name}`,
        role: "agent",
        args: ["agent", "--config", file, "--name", agent.name],
        listen: agent.listen,
        portKey: `agents[${i}].listen.port`,
        readyUrl: `${urlOf(agent.listen, agent.tls !== null)}/health`,
        shows: shown.agents[i] ?? null,
        drainMs: agentStopMs(agent),
      }),
    ),
    gatewayPlan(farm, file, portFlag, shown.gateway),
  ];
}

function gatewayPlan(farm: Farm, file: string, portFlag: number | null, shows: string | null): ProcessPlan {
  const { listen, drain, tls } = farm.gateway;
  return {
    title: "gateway",
    role: "gateway",
    args: ["gateway", "--config", file, ...(portFlag === null ? [] : ["--port", String(portFlag)])],
    listen: { host: listen.host, port: portFlag ?? listen.port },
    portKey: "listen.port of the gateway",
    readyUrl: `${urlOf({ host: listen.host, port: portFlag ?? listen.port }, tls !== null)}/livez`,
    shows,
    drainMs: drain,
  };
}
