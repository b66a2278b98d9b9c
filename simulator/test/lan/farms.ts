import { gatewayConfigSchema } from "@farmgate/gateway";
import { agentConfigSchema } from "@farmgate/worker-agent";
import { engineOptionsSchema } from "../../src/decide/options.ts";
import type { LanFarm } from "../../src/lan/farm.ts";
import { simulateSchema } from "../../src/lan/figures-schema.ts";
import { readFarm } from "../../src/lan/read-farm.ts";
import type { ReplayOptions } from "../../src/lan/replay.ts";
import type { SummaryOptions } from "../../src/lan/summary.ts";
import { TraceBuilder } from "../../src/trace/trace-builder.ts";
import type { Trace } from "../../src/trace/types.ts";

export const SETTINGS: ReplayOptions & SummaryOptions = { seed: 1, callerTimeoutMs: 600_000, targetMs: 5_000 };

interface Box {
  name: string;
  /** By name, what `simulate` of a farm file has. */
  models: Record<string, object>;
  queue?: object;
  memory?: object;
}

/** A farm whose agents have one script each. */
export function farmOf(boxes: readonly Box[], gateway: object = {}): LanFarm {
  const agents = boxes.map(({ name, models, queue, memory }, i) =>
    agentConfigSchema.parse({
      name,
      listen: { port: 8_401 + i },
      swap: { command: "./swap.sh", unload: memory !== undefined },
      ...(queue === undefined ? {} : { queue }),
      ...(memory === undefined ? {} : { memory }),
      models: Object.entries(models).map(([model, figures]) => ({
        name: model,
        url: `http://127.0.0.1:${9_001 + i}`,
        slots: "slots" in figures ? figures.slots : 4,
        ...(memory === undefined ? {} : { memory: "1gb" }),
      })),
    }),
  );
  const workers = boxes.map(({ name }, i) => ({ name, url: `http://127.0.0.1:${8_401 + i}`, engine: "agent" }));
  const simulate = simulateSchema.parse(Object.fromEntries(boxes.map(({ name, models }) => [name, models])));
  return readFarm({ gateway: gatewayConfigSchema.parse({ workers, ...gateway }), agents, engines: [], simulate }).farm;
}

/** Bare simulated engines behind a gateway. */
export function engineFarm(engines: readonly object[], workers: readonly object[] = [], gateway: object = {}): LanFarm {
  const options = engines.map((engine, i) => engineOptionsSchema.parse({ listen: { port: 9_001 + i }, ...engine }));
  const all = options.map(({ listen }, i) => {
    return { name: `engine-${i}`, url: `http://127.0.0.1:${listen.port}`, engine: "llama-server", ...workers[i] };
  });
  const config = gatewayConfigSchema.parse({ workers: all, ...gateway });
  return readFarm({ gateway: config, agents: [], engines: options, simulate: {} }).farm;
}

export interface Ask {
  at: number;
  model: string;
  input?: number;
  output?: number;
  deadline?: number;
  prefix?: number;
}

export function traceOf(asks: readonly Ask[]): Trace {
  const builder = new TraceBuilder();
  for (const { model, input = 100, output = 100, ...rest } of asks) {
    builder.add({ ...rest, app: builder.application(model), input, output });
  }
  return builder.build();
}
