import { engineOptionsSchema, type RunningEngine, startEngine } from "@farmgate/simulator";
import { createSystemClock } from "@farmgate/wire";
import type { z } from "zod";
import type { Cleanup } from "./farmgate-process.ts";
import { freePorts } from "./free-ports.ts";
import { startTestGateway } from "./gateway-farm.ts";
import { until } from "./until.ts";

type Options = Partial<z.input<typeof engineOptionsSchema>>;

/** What an engine saw of a request. */
type Seen = Parameters<NonNullable<Parameters<typeof startEngine>[1]["onRequest"]>>[0];

export interface KindsEngine {
  engine: RunningEngine;
  /** Inference requests so far, oldest first. */
  seen: Seen[];
}

/** Models of every kind, by their short names; each worker puts its own letter in front. */
const SLOTS = 2;
const KINDS = { talk: "chat", emb: "embedding", rank: "rerank", sound: "audio", draw: "image" } as const;

/**
 * One gateway before two workers that have a model of each kind: `bare`, an engine with `b-talk`, `b-sound` and so on,
 * and `box`, an agent with an engine of `x-...` models attached. All of it is loaded.
 */
export async function startAllKindsFarm(cleanup: Cleanup, config: Record<string, unknown> = {}) {
  const bare = await startKinds(cleanup, "b");
  const attached = await startKinds(cleanup, "x");
  const [port = 0] = await freePorts(1);
  const agentUrl = `http://127.0.0.1:${port}`;
  const engines = [{ url: attached.engine.url, engine: "llama-server", poll: "200ms", slots: SLOTS }];
  const agent = await cleanup.program("agent", { name: "box", listen: { port }, engines, drain: "1s" }, agentUrl);
  await until(async () => {
    const catalog = (await (await fetch(`${agentUrl}/catalog`)).json()) as { models: { state: string }[] };
    return catalog.models.length === 5 && catalog.models.every(({ state }) => state === "warm");
  }, "the agent has all models");
  const gateway = await startTestGateway(cleanup, { bare: bare.engine.url, box: agentUrl }, { drain: "1s", ...config });
  return { ...gateway, bare, attached, agent, agentUrl };
}

/** A simulated engine with a model of each kind, or as `more` has it, whose requests can be looked at. */
export async function startKinds(cleanup: Cleanup, letter: string, more: Options = {}): Promise<KindsEngine> {
  const seen: Seen[] = [];
  const options = engineOptionsSchema.parse({
    listen: { port: 0 },
    models: Object.entries(KINDS).map(([name, kind]) => ({ name: `${letter}-${name}`, kind, loaded: true })),
    maxLoaded: 0,
    load: "10ms",
    slots: SLOTS,
    promptTokensPerSecond: 0,
    tokensPerSecond: 0,
    ...more,
  });
  const onRequest = (request: Seen) => {
    if (request.method === "POST" || request.headers["upgrade"] !== undefined) seen.push(request);
  };
  const engine = await startEngine(options, { clock: createSystemClock(), onRequest });
  cleanup.add(engine, (running) => running.close());
  return { engine, seen };
}
