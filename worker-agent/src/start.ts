import { isAbsolute, join, resolve } from "node:path";
import { type Clock, type Environment, FarmError, formatDuration } from "@farmgate/shared";
import { KeyRing, type Log, Upstreams } from "@farmgate/wire";
import type { AgentConfig } from "./config.ts";
import { Executor, type RunSwap } from "./executor.ts";
import { Learned } from "./learned.ts";
import { AgentMetrics } from "./metrics.ts";
import { POLICIES } from "./queue/policies.ts";
import { Scheduler } from "./queue/scheduler.ts";
import type { SchedulerRules } from "./queue/types.ts";
import { readModelLog } from "./serve/model-log.ts";
import { ModelOrders } from "./serve/model-orders.ts";
import { ModelBook, type ServedModel } from "./served-model.ts";
import { AgentServer } from "./server.ts";
import { EngineAsker } from "./swap/ask-engine.ts";
import { pause } from "./swap/pause.ts";
import { RunningNotes } from "./swap/running-note.ts";
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
  /** Drains: what waits is refused, what runs may end within `drain`, then everything stops. */
  close(): Promise<void>;
}

/** Starts an agent. Resolves when it listens; rejects when it cannot (as a port in use, with the system's `code`). */
export async function startAgent(options: AgentOptions): Promise<RunningAgent> {
  const { config, clock, log } = options;
  const models = new ModelBook(config);
  const asker = new EngineAsker(clock);
  const upstreams = new Upstreams(CONNECT_MS);
  const learned = new Learned(models.models);
  const swapping = await swapOptions(options);
  const runner = new SwapRunner(swapping, asker);
  const stopTrimming = keepOutputSmall(swapping.outputDirectory, clock);
  const scheduler = new Scheduler(rulesOf(config), POLICIES[config.queue.policy]);
  const metrics = new AgentMetrics();
  const executor = new Executor(scheduler, swapper(runner, { models, learned, metrics, clock, log }), clock);
  const runUnload = config.swap.unload
    ? (model: ServedModel, signal: AbortSignal) => runner.unload(model, signal)
    : null;
  const server = new AgentServer({
    identity: { name: config.name, version: options.version },
    models,
    keys: new KeyRing(config.keys),
    executor,
    orders: new ModelOrders(executor, runUnload, clock, log),
    upstreams,
    learned,
    metrics,
    readLog: (model, lines) => readModelLog(swapping.outputDirectory, model, lines),
    clock,
    log,
  });
  const release = async (readMs: number) => {
    await server.close(readMs);
    stopTrimming();
    await Promise.all([upstreams.destroy(), asker.close()]);
  };
  try {
    if (await runner.endLeftover())
      log.warn("an earlier agent was killed in a swap: its script, still running, is ended");
    const found = await discover(runner, models, options);
    if (found !== null) {
      executor.tell({ type: "found", model: found.name });
      learned.told(found.name, await runner.facts(found, new AbortController().signal));
    }
    const { url, port } = await server.listen(config.listen);
    log.info({ url, models: models.models.map((model) => model.name) }, `listening on ${url}`);
    return { url, port, close: once(() => drainAndStop(server, executor, release, options)) };
  } catch (error) {
    await release(0);
    throw error;
  }
}

async function swapOptions({ config, directory, environment, clock }: AgentOptions) {
  const outputs = await outputDirectory(directory, config.name);
  const [program = "", ...args] = splitWords(config.swap.command ?? "") ?? [];
  return {
    words: [program.includes("/") && !isAbsolute(program) ? resolve(directory, program) : program, ...args],
    directory,
    environment,
    outputDirectory: outputs,
    notes: new RunningNotes(join(outputs, "running")),
    pollMs: config.swap.poll,
    clock,
  };
}

function rulesOf({ queue, swap, models }: AgentConfig): SchedulerRules {
  return {
    maxBatch: queue.maxBatch,
    maxWait: queue.maxWait,
    minResident: queue.minResident,
    gather: queue.gather,
    maxDepth: queue.maxDepth,
    failureLimit: swap.failureLimit,
    failureReset: swap.failureReset,
    models: models.map(({ name, slots }) => ({ name, slots })),
  };
}

interface SwapContext {
  models: ModelBook;
  learned: Learned;
  metrics: AgentMetrics;
  clock: Clock;
  log: Log;
}

/** The scheduler's swaps, run and written down. */
function swapper(runner: SwapRunner, { models, learned, metrics, clock, log }: SwapContext): RunSwap {
  return async (name, previous, why, signal) => {
    const model = models.find(name);
    if (model === undefined) return { ok: false, reason: `${name} is not configured` };
    const startedAt = clock.now();
    log.info({ model: name, previous, why }, `loading ${name}`);
    const result = await runner.swap(model, previous, signal);
    const ms = clock.now() - startedAt;
    const line = { model: name, previous, why, ms: Math.round(ms) };
    metrics.swapped(previous, name, result.ok ? "ok" : "failed", ms);
    if (result.ok) {
      learned.loaded(name, ms);
      void runner.facts(model, signal).then((facts) => learned.told(name, facts));
      log.info(line, `${name} is loaded after ${formatDuration(ms)}`);
      return { ok: true };
    }
    log.error({ ...line, error: result.reason, tail: result.tail }, `loading ${name} failed`);
    return { ok: false, reason: result.tail === "" ? result.reason : `${result.reason}: ${result.tail}` };
  };
}

/** What is loaded already. One model at a time: of several that answer the first one counts. */
async function discover(
  runner: SwapRunner,
  models: ModelBook,
  { config, log }: AgentOptions,
): Promise<ServedModel | null> {
  const { signal } = new AbortController();
  let found: ServedModel[] = [];
  try {
    found = await (config.swap.status ? runner.reported(models.models, signal) : runner.ready(models.models, signal));
  } catch (error) {
    log.warn({ error: String(error) }, "it is not known what is loaded; nothing is taken to be");
  }
  const [first, ...others] = found;
  if (first === undefined) return null;
  const names = others.map((model) => model.name);
  if (names.length === 0) log.info({ model: first.name }, `${first.name} was found loaded`);
  else log.warn({ model: first.name, others: names }, `more than one model answers; ${first.name} is taken as loaded`);
  return first;
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
