// A farm that serves about forty requests a second: eight slots, a fifth of a second for each answer.
import type { Children } from "../bench/process/children.ts";
import { FARMGATE } from "../harness/farmgate-process.ts";
import { freePorts } from "../harness/free-ports.ts";
import { type Program, startEngine, startProgram } from "../soak/farm/programs.ts";

/** Requests a second. */
export const CAPACITY = 40;
/** Tokens of each answer, at a hundred a second. */
export const TOKENS = 20;
const SPEED = "--tokens-per-second 100 --prompt-speed 0";
/** Requests that may wait. */
const QUEUE = 100;

export interface CapacityFarm {
  gateway: Program;
  agent: Program | null;
}

/** Two bare engines with four slots each; the gateway holds what waits for them. */
export async function startEngines(children: Children): Promise<CapacityFarm> {
  const [port = 0, ...ports] = await freePorts(3);
  const flags = `--models m --loaded m --slots 4 ${SPEED}`;
  for (const [i, at] of ports.entries()) await startEngine(children, `engine-${i}`, at, flags);
  const workers = ports.map((at, i) => ({ ...workerAt(`engine-${i}`, at, "llama-server"), maxConcurrent: 4 }));
  return { gateway: await startGateway(children, port, workers), agent: null };
}

/** The same behind an agent, which holds what waits. */
export async function startAgent(children: Children): Promise<CapacityFarm> {
  const [port = 0, agentPort = 0, enginePort = 0] = await freePorts(3);
  const command = `${process.execPath} ${FARMGATE} engine --single --models m --load 0s --port ${enginePort} --slots 8 ${SPEED}`;
  const agent = await startProgram(children, "agent", "agent", {
    name: "agent",
    listen: { port: agentPort },
    queue: { maxDepth: QUEUE },
    models: [{ name: "m", url: `http://127.0.0.1:${enginePort}`, command, slots: 8, pinned: true }],
  } as { listen: { port: number } });
  const gateway = await startGateway(children, port, [workerAt("agent", agentPort, "agent")]);
  return { gateway, agent };
}

function workerAt(name: string, port: number, engine: string) {
  return { name, url: `http://127.0.0.1:${port}`, engine };
}

function startGateway(children: Children, port: number, workers: object[]): Promise<Program> {
  const config = { listen: { port }, health: { interval: "1s" }, limits: { queue: QUEUE }, workers };
  return startProgram(children, "gateway", "gateway", config);
}
