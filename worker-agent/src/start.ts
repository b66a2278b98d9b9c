import { isAbsolute, resolve } from "node:path";
import { type Clock, type Environment, FarmError, formatDuration, MAX_WAITING_TOLD } from "@farmgate/shared";
import { KeyRing, type Log, Upstreams } from "@farmgate/wire";
import type { AgentConfig } from "./config.ts";
import { discover } from "./discover.ts";
import { Executor } from "./executor.ts";
import { Holders } from "./holders.ts";
import { Learned } from "./learned.ts";
import { AgentMetrics } from "./metrics.ts";
import { ModelSwitch } from "./model-switch.ts";
import { Promises } from "./promises.ts";
import { POLICIES } from "./queue/policies.ts";
import { Scheduler } from "./queue/scheduler.ts";
import { modelRulesOf, replacesBy, rulesOf } from "./scheduler-rules.ts";
import { ModelOrders } from "./serve/model-orders.ts";
import { ModelBook } from "./served-model.ts";
import { AgentServer } from "./server.ts";
import type { Moment } from "./status.ts";
import { EngineAsker } from "./swap/ask-engine.ts";
import { pause } from "./swap/pause.ts";
import { keepOutputSmall, outputDirectory } from "./swap/script-output.ts";
import { splitWords } from "./swap/split-words.ts";
import { SwapRunner } from "./swap/swap-runner.ts";

/** Limit on the connection to an engine, which is on this machine or beside it; in milliseconds. */
const CONNECT_MS = 5_000;

export interface AgentOptions {
  config: AgentConfig;
  /** Absolute; paths in the configuration are relative to it. */
  directory: string;
  /** What the swap script gets; leave out what the configuration uses as a secret. */
  environment: Environment;
  clock: Clock;
  log: Log;
  version: string;
}

export interface RunningAgent {
  url: string;
  port: number;
  /** For holders that notice it by themselves: the model's engine is gone. */
  onLost(model: string, reason: string): void;
  /** For attached engines: the models of the book are others than before. */
  onModels(): void;
  /** Drains: what waits is refused, what runs may end within `drain`, then everything stops. */
  close(): Promise<void>;
}

/** Starts an agent. Resolves when it listens; rejects when it cannot (as a port in use, with the system's `code`). */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const { config, clock, log } = options;
  const models = new ModelBook(config);
  const asker = new EngineAsker(clock);
  const upstreams = new Upstreams(CONNECT_MS);
  const learned = new Learned();
  const swapping = await swapOptions(options);
  const runner = new SwapRunner(swapping, asker);
  const holders = new Holders({ script: runner, command: null, engine: null });
  const stopTrimming = keepOutputSmall(swapping.outputDirectory, clock);
  const costs = { reloadMs: (model: string) => learned.loadMs(model, null, clock.now()) };
  const scheduler = new Scheduler(rulesOf(config, models.models), POLICIES[config.queue.policy], costs);
  const metrics = new AgentMetrics();
  const replaces = replacesBy(config);
  const executor = new Executor(
    scheduler,
    new ModelSwitch({ models, holders, replaces, learned, metrics, clock, log }),
    clock,
  );
  const promises = new Promises();
  const moment = (): Moment => ({
    now: clock.now(),
    models: models.models,
    rules: rulesOf(config, models.models),
    view: executor.view(),
    waiting: scheduler.waiting(clock.now(), MAX_WAITING_TOLD),
    learned,
    promises,
    promised: config.queue.policy === "greedy",
    longestAnswerMs: config.queue.longestAnswer,
  });
  const server = new AgentServer({
    identity: { name: config.name, version: options.version },
    models,
    keys: new KeyRing(config.keys),
    executor,
    orders: new ModelOrders(executor, (model) => modelRulesOf(config, model).unloads, clock, log),
    upstreams,
    learned,
    moment,
    engines: () => [],
    metrics,
    clock,
    log,
  });
  const onLost = (model: string, reason: string) => {
    log.warn({ model, reason }, `the engine of ${model} is gone`);
    executor.tell({ type: "lost", model });
  };
  const onModels = () => executor.tell({ type: "models", models: rulesOf(config, models.models).models });
  const release = async (readMs: number) => {
    await server.close(readMs);
    stopTrimming();
    await holders.close();
    await Promise.all([upstreams.destroy(), asker.close()]);
  };
  try {
    if (await runner.endLeftover())
      log.warn("an earlier agent was killed in a swap: its script, still running, is ended");
    for (const found of await discover(holders, models.models, replaces, log)) {
      executor.tell({ type: "found", model: found.name });
      learned.found(found.name, clock.now());
      learned.told(found.name, await holders.facts(found, new AbortController().signal));
    }
    const { url, port } = await server.listen(config.listen);
    // All that is loaded has been told: what is to be loaded without being asked for may begin.
    executor.tell({ type: "tick" });
    log.info({ url, models: models.models.map((model) => model.name) }, `listening on ${url}`);
    return { url, port, onLost, onModels, close: once(() => drainAndStop(server, executor, release, options)) };
  } catch (error) {
    await release(0);
    throw error;
  }
}

async function swapOptions({ config, directory, environment, clock }: AgentOptions) {
  const [program = "", ...args] = splitWords(config.swap.command ?? "") ?? [];
  return {
    words: [program.includes("/") && !isAbsolute(program) ? resolve(directory, program) : program, ...args],
    directory,
    environment,
    outputDirectory: await outputDirectory(directory, config.name),
    pollMs: config.swap.poll,
    asksStatus: config.swap.status,
    clock,
  };
}

async function drainAndStop(
  server: AgentServer,
  executor: Executor,
  release: (readMs: number) => Promise<void>,
  { config, clock, log }: AgentOptions,
): Promise<void> {
  const error = new FarmError("draining", "This agent is stopping.");
  const end = clock.now() + config.drain;
  executor.tell({ type: "drain" });
  server.stopAccepting(error);
  executor.rejectWaiting(error);
  await Promise.race([executor.idle(), pause(config.drain, clock)]);
  const left = executor.view().inflight;
  if (left > 0) log.warn({ left }, `${left} answers did not end within ${formatDuration(config.drain)} and are cut`);
  await executor.stop(error);
  await release(end - clock.now());
  log.info("stopped");
}

function once<T>(run: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | null = null;
  return () => (result ??= run());
}
