// A farm of four agents with simulated engines, once as processes and once for the simulator.
import { setTimeout as sleep } from "node:timers/promises";
import { gatewayConfigSchema } from "@farmgate/gateway";
import { engineOptionsSchema } from "@farmgate/simulator";
import { type LanFarm, readFarm } from "@farmgate/simulator/virtual";
import { agentConfigSchema } from "@farmgate/worker-agent";
import type { Children } from "../bench/process/children.ts";
import { getJson } from "../harness/ask.ts";
import { freePorts } from "../harness/free-ports.ts";
import { type Program, startEngine, startProgram } from "../soak/farm/programs.ts";

/** By agent: the models that its engine has, of which it holds one at a time. */
const BOXES = {
  "box-1": ["code", "chat"],
  "box-2": ["chat", "small"],
  "box-3": ["small", "code"],
  "box-4": ["code", "chat", "small"],
} as const;
export const MODELS = ["code", "chat", "small"] as const;
/** In the engine's words. */
const ENGINE = { load: "1500ms", slots: 3, promptTokensPerSecond: 3_000, tokensPerSecond: 60 };
const FLAGS =
  `--load ${ENGINE.load} --max-loaded 2 --slots ${ENGINE.slots} --prompt-speed ${ENGINE.promptTokensPerSecond} ` +
  `--tokens-per-second ${ENGINE.tokensPerSecond}`;

/** An agent unloads for admins alone. */
const KEY = "admin-of-the-measured-farm";

/** What of the gateway's file differs. */
export interface Variant {
  name: string;
  gateway: Record<string, unknown>;
}

export interface FarmPlan {
  gateway: { listen: { port: number } } & Record<string, unknown>;
  agents: { name: string; listen: { port: number } }[];
  engines: { name: string; listen: { port: number }; models: readonly string[] }[];
}

export async function planFarm({ gateway }: Variant): Promise<FarmPlan> {
  const names = Object.keys(BOXES);
  const ports = await freePorts(1 + 2 * names.length);
  const portOf = (place: number) => ports[place] ?? 0;
  const engines = Object.entries(BOXES).map(([name, models], i) => {
    return { name: `engine-${name}`, listen: { port: portOf(1 + i) }, models, ...ENGINE, maxLoaded: 2 };
  });
  const agents = names.map((name, i) => ({
    name,
    listen: { port: portOf(1 + names.length + i) },
    keys: [{ name: "gateway", key: KEY, admin: true }],
    engines: [{ url: `http://127.0.0.1:${portOf(1 + i)}`, engine: "llama-server", slots: ENGINE.slots, poll: "1s" }],
  }));
  const workers = agents.map(({ name, listen }) => {
    return { name, url: `http://127.0.0.1:${listen.port}`, engine: "agent", apiKey: KEY };
  });
  const own = { listen: { port: portOf(0) }, health: { interval: "1s" }, sseComments: 0, workers };
  return { gateway: { ...own, ...gateway }, agents, engines };
}

/** The same farm for the simulator. */
export function simulatedFarm({ gateway, agents, engines }: FarmPlan): LanFarm {
  return readFarm({
    gateway: gatewayConfigSchema.parse(gateway),
    agents: agents.map((agent) => agentConfigSchema.parse(agent)),
    engines: engines.map((engine) => engineOptionsSchema.parse(engine)),
    simulate: {},
  }).farm;
}

export interface LiveFarm {
  gateway: Program;
  /** Loads so far, of all agents. */
  loads(): Promise<number>;
}

export async function startFarm(children: Children, plan: FarmPlan): Promise<LiveFarm> {
  for (const { name, listen, models } of plan.engines) {
    await startEngine(children, name, listen.port, `--models ${models.join(",")} ${FLAGS}`);
  }
  const agents: Program[] = [];
  for (const agent of plan.agents) agents.push(await startProgram(children, "agent", agent.name, agent));
  const gateway = await startProgram(children, "gateway", "gateway", plan.gateway);
  for (let listed = 0; listed < MODELS.length; await sleep(100)) {
    listed = (await getJson<{ data: unknown[] }>(`${gateway.url}/v1/models`)).data.length;
  }
  // Every catalogue has been asked for once more by then.
  await sleep(1_500);
  return {
    gateway,
    async loads() {
      const all = await Promise.all(agents.map(({ url }) => getJson<{ swaps: number }>(`${url}/health`, KEY)));
      return all.reduce((sum, { swaps }) => sum + swaps, 0);
    },
  };
}
