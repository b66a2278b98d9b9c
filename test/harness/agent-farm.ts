import { freePorts } from "./free-ports.ts";
import type { Cleanup } from "./farmgate-process.ts";
import { getJson } from "./ask.ts";
import { type EngineFlags, writeSwapScript } from "./swap-script.ts";
import { until } from "./until.ts";

export interface AgentHealth {
  status: string;
  model: string | null;
  queue_depth: number;
  inflight: number;
  swaps: number;
}

/** A real agent process whose swap script starts one real engine process per model. */
export async function startAgentFarm(
  cleanup: Cleanup,
  names: readonly string[],
  flags: EngineFlags,
  queue: Record<string, unknown> = {},
) {
  const [port = 0, ...enginePorts] = await freePorts(names.length + 1);
  const folder = await cleanup.folder();
  const swap = await writeSwapScript(folder, flags);
  cleanup.add(swap, (script) => script.endEngine());
  const url = `http://127.0.0.1:${port}`;
  const agent = await cleanup.program(
    "agent",
    {
      name: "box",
      listen: { port },
      swap: { command: swap.script, poll: "20ms", timeout: "20s" },
      queue,
      models: names.map((name, i) => ({ name, url: `http://127.0.0.1:${enginePorts[i]}`, slots: flags.slots })),
    },
    url,
  );
  const health = () => getJson<AgentHealth>(`${url}/health`);
  return {
    agent,
    url,
    swap,
    health,
    /** Asks for nothing but that the model be loaded. */
    async load(model: string): Promise<void> {
      await fetch(`${url}/models/${model}/load`, { method: "POST" });
      await until(async () => (await health()).model === model, `${model} is loaded`);
    },
    /** Waits until this many requests wait or run. */
    async holds(count: number): Promise<void> {
      await until(async () => {
        const { queue_depth, inflight } = await health();
        return queue_depth + inflight === count;
      }, `${count} requests at the agent`);
    },
  };
}
