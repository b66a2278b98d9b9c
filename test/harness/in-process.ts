import { fileURLToPath } from "node:url";
import { gatewayConfigSchema, startGateway } from "@farmgate/gateway";
import { seededRandom } from "@farmgate/shared";
import { createLog, createSystemClock, type Log } from "@farmgate/wire";
import { agentConfigSchema, startAgent } from "@farmgate/worker-agent";
import { getJson } from "./ask.ts";
import type { Cleanup } from "./farmgate-process.ts";
import type { FarmWorker } from "./gateway-farm.ts";
import { until } from "./until.ts";

const clock = createSystemClock();

/** Makes a model the loaded one of a simulated engine that is a router. */
const SWAP = fileURLToPath(new URL("../../cli/demo/swap.mjs", import.meta.url));

interface Options {
  log?: Log;
}

/** An agent inside this process, on a free port, whose swap script is the demo farm's. */
export async function runAgent(cleanup: Cleanup, config: Record<string, unknown>, { log }: Options = {}) {
  const swap = { command: `${process.execPath} ${SWAP}`, poll: "20ms", timeout: "20s" };
  const agent = await startAgent({
    config: agentConfigSchema.parse({ listen: { port: 0 }, swap, drain: "1s", ...config }),
    directory: await cleanup.folder(),
    environment: process.env,
    clock,
    random: seededRandom(1),
    log: log ?? createLog("agent", "silent"),
    version: "0.0.0",
  });
  return cleanup.add(agent, (running) => running.close());
}

/** A gateway inside this process, on a free port, after its first good look at each worker; asked with this key. */
export async function runGateway(
  cleanup: Cleanup,
  config: Record<string, unknown>,
  { log }: Options = {},
  key = "none",
) {
  const gateway = cleanup.add(
    await startGateway({
      config: gatewayConfigSchema.parse({ listen: { port: 0 }, drain: "1s", ...config }),
      clock,
      random: seededRandom(1),
      log: log ?? createLog("gateway", "silent"),
      version: "0.0.0",
    }),
    (running) => running.close(),
  );
  await until(async () => {
    const { workers } = await getJson<{ workers: FarmWorker[] }>(`${gateway.url}/farm/workers`, key);
    return workers.every(({ catalog }) => catalog === "fresh");
  }, "every catalogue is known");
  return gateway;
}
