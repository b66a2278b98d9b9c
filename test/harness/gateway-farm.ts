import {
  type EngineDeps,
  type EngineOptions,
  engineOptionsSchema,
  type RunningEngine,
  startEngine,
} from "@farmgate/simulator";
import { createSystemClock } from "@farmgate/wire";
import type { z } from "zod";
import { getJson } from "./ask.ts";
import type { Cleanup } from "./farmgate-process.ts";
import { freePorts } from "./free-ports.ts";
import { until } from "./until.ts";

const clock = createSystemClock();

export interface FarmWorker {
  name: string;
  engine: string;
  state: string;
  catalog: string;
  inflight: number;
  models: { id: string; state: string }[];
}

/** A simulated engine inside this process, on a free port; `onRequest` is told of each request. */
export async function startTestEngine(
  cleanup: Cleanup,
  options: Partial<z.input<typeof engineOptionsSchema>>,
  onRequest?: EngineDeps["onRequest"],
): Promise<RunningEngine> {
  const parsed: EngineOptions = engineOptionsSchema.parse({
    listen: { port: 0 },
    models: ["m"],
    load: "100ms",
    promptTokensPerSecond: 0,
    tokensPerSecond: 0,
    ...options,
  });
  return cleanup.add(await startEngine(parsed, onRequest === undefined ? { clock } : { clock, onRequest }), (engine) =>
    engine.close(),
  );
}

/** A real gateway process over these workers (name -> url), after its first good look at each; asked with its first key. */
export async function startTestGateway(
  cleanup: Cleanup,
  workers: Record<string, string>,
  config: Record<string, unknown> & { keys?: readonly { key: string }[] } = {},
) {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const listed = Object.entries(workers).map(([name, address]) => ({ name, url: address }));
  const gateway = await cleanup.program(
    "gateway",
    { listen: { port }, health: { interval: "200ms", timeout: "1s" }, workers: listed, ...config },
    url,
  );
  const key = config.keys?.[0]?.key ?? "none";
  const list = () => getJson<FarmWorker[] | { workers: FarmWorker[] }>(`${url}/farm/workers`, key);
  const farm = async () => {
    const answer = await list();
    return Array.isArray(answer) ? answer : answer.workers;
  };
  await until(async () => (await farm()).every((worker) => worker.catalog === "fresh"), "every catalogue is known");
  return { gateway, url, farm };
}
