import { ask, getJson } from "./ask.ts";
import type { Cleanup } from "./farmgate-process.ts";
import { freePorts } from "./free-ports.ts";
import { startTestGateway } from "./gateway-farm.ts";
import { startRawWorker } from "./raw-worker.ts";
import { until } from "./until.ts";

/** How the gateway reaches the raw worker: as this engine, or through an agent of its own that has it attached. */
type Reached = "vllm" | "ollama" | "openai" | "agent";

/** A real gateway over one raw worker, `raw`. */
export async function startRawFarm(cleanup: Cleanup, reached: Reached, config: Record<string, unknown> = {}) {
  const worker = await startRawWorker(cleanup);
  const workerUrl = reached === "agent" ? await startAgentBefore(cleanup, worker.url) : worker.url;
  const workers = [{ name: "raw", url: workerUrl, engine: reached }];
  const { url, gateway } = await startTestGateway(cleanup, {}, { workers, ...config });
  const pid = gateway.child.pid ?? 0;
  return {
    worker,
    url,
    pid,
    output: () => gateway.output(),
    ask: (path: string, body: object = {}, headers: Record<string, string> = {}) =>
      ask(`${url}${path}`, { model: "m", stream: true, ...body }, headers),
    metrics: async () => await (await fetch(`${url}/metrics`)).text(),
  };
}

export type RawFarm = Awaited<ReturnType<typeof startRawFarm>>;

async function startAgentBefore(cleanup: Cleanup, engineUrl: string): Promise<string> {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const engines = [{ url: engineUrl, engine: "vllm", poll: "200ms", slots: 64 }];
  await cleanup.program("agent", { name: "raw", listen: { port }, engines }, url);
  const lists = async () => (await getJson<{ models: object[] }>(`${url}/catalog`)).models.length > 0;
  await until(lists, "the agent lists the engine's model");
  return url;
}
