import type { Clock, Random } from "@farmgate/shared";
import type { Cleanup } from "../../harness/farmgate-process.ts";
import { startTestGateway } from "../../harness/gateway-farm.ts";
import type { Front } from "./front.ts";
import { FaultyWorker } from "./worker.ts";

/** So many of each, that a pair's breaker seldom opens: three of its requests in a row would have to fail. */
const MODELS = 100;
const names = (prefix: string) => Array.from({ length: MODELS }, (_, i) => `${prefix}-${i}`);

/** Short, so that a silent worker does not cost the run minutes. */
export const GATEWAY_SETTINGS = {
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
}

/** A gateway over one faulty worker and two good ones; every second model stands on the faulty one alone. */
export async function startGatewayRig(cleanup: Cleanup, random: Random, clock: Clock): Promise<Rig> {
  const [alone, shared] = [names("alone"), names("shared")];
  const start = async (models: string[]) =>
    cleanup.add(await new FaultyWorker(models, random, clock).listen(), (worker) => worker.close());
  const faulty = await start([...alone, ...shared]);
  const good = [await start(shared), await start(shared)];
  const workers = [faulty, ...good].map(({ url }, i) => {
    return { name: i === 0 ? "faulty" : `good-${i}`, url, engine: "vllm" };
  });
  const { gateway, url } = await startTestGateway(cleanup, {}, { ...GATEWAY_SETTINGS, workers });
  const models = alone.flatMap((name, i) => [name, shared[i] ?? name]);
  return { front: { kind: "gateway", url, process: gateway }, faulty, good, models };
}
