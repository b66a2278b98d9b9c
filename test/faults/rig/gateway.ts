import type { Clock } from "@farmgate/shared";
import type { Cleanup } from "../../harness/farmgate-process.ts";
import { getJson } from "../../harness/ask.ts";
import { freePorts } from "../../harness/free-ports.ts";
import { until } from "../../harness/until.ts";
import type { Front } from "./front.ts";
import { FaultyWorker } from "./worker.ts";

/** So many of each, that a pair's breaker seldom opens: three of its requests in a row would have to fail. */
const MODELS = 100;
const names = (prefix: string) => Array.from({ length: MODELS }, (_, i) => `${prefix}-${i}`);

/** Short, so that a silent worker does not cost the run minutes. */
const SETTINGS = {
  health: { interval: "200ms", timeout: "500ms", unhealthyAfter: 1_000 },
  timeouts: { connect: "300ms", firstByte: "1200ms", idle: "800ms" },
  limits: { queueWait: "3s" },
  sseComments: "500ms",
  drain: "1s",
};

/** Models, and where a request for them meets the faulty worker. */
export interface Rig {
  front: Front;
  faulty: FaultyWorker;
  good: FaultyWorker[];
  /** One after the other. */
  models: string[];
  clock: Clock;
}

/** A gateway over one faulty worker and two good ones; every second model stands on the faulty one alone. */
export async function startGatewayRig(cleanup: Cleanup, clock: Clock, shell?: string): Promise<Rig> {
  const [alone, shared] = [names("alone"), names("shared")];
  const start = async (models: string[]) =>
    cleanup.add(await new FaultyWorker(models, clock).listen(), (worker) => worker.close());
  const faulty = await start([...alone, ...shared]);
  const good = [await start(shared), await start(shared)];
  const workers = [faulty, ...good].map(({ url }, i) => {
    return { name: i === 0 ? "faulty" : `good-${i}`, url, engine: "vllm" };
  });
  const front = await startGateway(cleanup, workers, shell);
  const models = alone.flatMap((name, i) => [name, shared[i] ?? name]);
  return { front, faulty, good, models, clock };
}

/** A gateway process over these workers, once it knows what each has. `shell`: see `runFarmgate`. */
export async function startGateway(cleanup: Cleanup, workers: readonly object[], shell?: string): Promise<Front> {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const process = await cleanup.program("gateway", { listen: { port }, ...SETTINGS, workers }, url, {}, shell);
  await until(async () => {
    const { workers: known } = await getJson<{ workers: { catalog: string }[] }>(`${url}/farm/workers`);
    return known.every(({ catalog }) => catalog === "fresh");
  }, "every catalogue is known");
  return { kind: "gateway", url, process };
}
