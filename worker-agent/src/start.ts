import { hostname, totalmem } from "node:os";
import { resolve } from "node:path";
import {
  type Clock,
  type Environment,
  FarmError,
  formatDuration,
  MAX_WAITING_TOLD,
  type Random,
} from "@farmgate/shared";
import {
  Access,
  type KeyRing,
  type Log,
  type Opened,
  openedWhole,
  openMulticast,
  type OpenMulticast,
  openTracing,
  type TlsPair,
  Upstreams,
} from "@farmgate/wire";
import { AgentSpans } from "./agent-spans.ts";
import type { AgentConfig } from "./config.ts";
import { FileKeeper } from "./files/file-keeper.ts";
import { discover } from "./holders/discover.ts";
import { Executor } from "./executor.ts";
import { Learned } from "./figures/learned.ts";
import { type Machine, startMachine } from "./holders/machine.ts";
import { AgentMetrics } from "./metrics.ts";
import { ModelSwitch } from "./model-switch.ts";
import { Promises } from "./figures/promises.ts";
import { Registrations } from "./registration/registrations.ts";
import { keyRing, makeRunKey } from "./registration/run-key.ts";
import { POLICIES } from "./queue/policies.ts";
import { Scheduler } from "./queue/scheduler.ts";
import type { SchedulerEvent } from "./queue/types.ts";
import { modelRulesOf, replacesBy, rulesOf } from "./scheduler-rules.ts";
import { readModelLog } from "./serve/model-log.ts";
import { ModelOrders } from "./serve/model-orders.ts";
import { ModelBook } from "./served-model.ts";
import { AgentServer } from "./server.ts";
import type { Moment } from "./status.ts";
import { EngineAsker } from "./swap/ask-engine.ts";
import { pause } from "./swap/pause.ts";

/** Limit on the connection to an engine, which is on this machine or beside it; in milliseconds. */
const CONNECT_MS = 5_000;

/** What callers are told of an agent that stops. */
const stopping = () => new FarmError("draining", "This agent is stopping.");

export interface AgentOptions {
  config: AgentConfig;
  /** What `config.tls` names; null or absent: plain HTTP. */
  tls?: TlsPair | null;
  /** Absolute; paths in the configuration are relative to it. */
  directory: string;
  /** What the swap script gets; leave out what the configuration uses as a secret. */
  environment: Environment;
  clock: Clock;
  random: Random;
  log: Log;
  version: string;
  /** How gateways are looked for on the local network; absent: by multicast DNS. */
  openMulticast?: OpenMulticast;
  /** Memory of this machine in bytes; absent: what its system says. */
  hostMemory?: number;
}

export interface RunningAgent {
  url: string;
  port: number;
  /** Shows new connections a renewed certificate. Throws when it cannot be used; then the old one stays. */
  renew(pair: TlsPair): void;
  /** Drains: what waits is refused, what runs may end within `drain`, then everything stops. */
  close(): Promise<void>;
}

/** Starts an agent. Resolves when it listens; rejects when it cannot, with all closed (as a port in use, with the system's `code`). */
export function startAgent(options: AgentOptions): Promise<RunningAgent> {
  return openedWhole(options.log, (opened) => start(options, opened));
}

async function start(options: AgentOptions, opened: Opened): Promise<RunningAgent> {
  const { config, clock, log } = options;
  const models = new ModelBook(config);
  const asker = opened.add(new EngineAsker(clock), (open) => open.close());
  const upstreams = opened.add(new Upstreams(CONNECT_MS), (open) => open.destroy());
  const metrics = new AgentMetrics();
  const onHere = (names: readonly string[]) => {
    for (const name of names) learned.found(name, clock.now());
  };
  const { directory: shelf } = config.files;
  const files =
    shelf === null
      ? null
      : new FileKeeper({ ...options, directory: resolve(options.directory, shelf), upstreams, metrics, onHere });
  opened.add(files, (keeper) => keeper?.close());
  const sizeOf = (model: string) => {
    return files?.weightsOf(model, clock.now()).bytes ?? models.named(model)?.memoryBytes ?? null;
  };
  const learned = new Learned({ bytes: options.hostMemory ?? totalmem(), sizeOf });
  // What is told before the scheduler stands is in the book, which it reads as it is made, and in what is found.
  let tell: (event: SchedulerEvent) => void = () => {};
  const news = newsFor(options, models, learned, (event) => tell(event));
  const machine = await startMachine({ ...options, models, asker, news });
  opened.add(machine.holders, (held) => held.close());
  opened.add(machine, ({ stopTrimming }) => stopTrimming());
  const scheduler = new Scheduler(rulesOf(config, models.models), POLICIES[config.queue.policy], {
    reloadMs: (model: string) => learned.loadMs(model, null, clock.now()),
  });
  const service = { name: "farmgate-agent", version: options.version, instance: config.name };
  const tracing = opened.add(await openTracing(config.telemetry, service, { clock, log }), (open) => open?.close());
  const spans = tracing === null ? null : new AgentSpans(tracing, clock);
  const { holders } = machine;
  const replaces = replacesBy(config);
  const missingFor = async (model: string) => (await files?.missingFor(model)) ?? null;
  const switching = new ModelSwitch({ models, holders, missingFor, replaces, learned, metrics, spans, clock, log });
  const executor = new Executor(scheduler, switching, clock);
  tell = (event) => executor.tell(event);
  const { keys, registrations } = registering(options, upstreams);
  const server = createServer(options, {
    keys,
    models,
    upstreams,
    learned,
    scheduler,
    executor,
    metrics,
    spans,
    machine,
    files,
  });
  const release = async (readMs: number) => {
    await server.close(readMs);
    machine.stopTrimming();
    await Promise.all([holders.close(), files?.close()]);
    await Promise.all([upstreams.destroy(), asker.close(), tracing?.close()]);
  };
  opened.add(server, (door) => door.close(0));
  opened.add(executor, (runs) => runs.stop(stopping()));
  const found = await discover(holders, models.models, replaces, log);
  // All at once: what is lost from here on is told by the holders, and must come after it.
  for (const { name } of found) news.onFound(name);
  await Promise.all(
    found.map(async (model) => learned.told(model.name, await holders.facts(model, new AbortController().signal))),
  );
  const { url, port } = await server.listen(config.listen);
  // All that is loaded has been told: what is to be loaded without being asked for may begin.
  executor.tell({ type: "tick" });
  files?.start();
  registrations.start(port);
  log.info({ url, models: models.models.map((model) => model.name) }, `listening on ${url}`);
  const renew = (pair: TlsPair) => {
    server.renew(pair);
    registrations.renewed(pair);
  };
  const close = async () => {
    // Nothing new is to come before what has come is ended.
    await registrations.leave();
    await drainAndStop(server, executor, release, options);
  };
  return { url, port, renew, close: once(close) };
}

/** What makes the agent known to gateways, and them to it. */
function newsFor(
  { config, clock, log }: AgentOptions,
  models: ModelBook,
  learned: Learned,
  tell: (event: SchedulerEvent) => void,
) {
  return {
    onModels: () => tell({ type: "models", models: rulesOf(config, models.models).models }),
    onFound: (model: string) => {
      learned.found(model, clock.now());
      tell({ type: "found", model });
    },
    onLost: (model: string, reason: string) => {
      log.warn({ model, reason }, `${model} is not loaded any more`);
      tell({ type: "lost", model });
    },
  };
}

function registering(options: AgentOptions, upstreams: Upstreams) {
  const run = makeRunKey();
  const registrations = new Registrations({
    ...options,
    run,
    tls: options.tls ?? null,
    upstreams,
    openMulticast: options.openMulticast ?? openMulticast,
  });
  return { keys: keyRing(options.config, run), registrations };
}

interface Parts {
  keys: KeyRing;
  models: ModelBook;
  upstreams: Upstreams;
  learned: Learned;
  scheduler: Scheduler;
  executor: Executor;
  metrics: AgentMetrics;
  spans: AgentSpans | null;
  machine: Machine;
  files: FileKeeper | null;
}

function createServer(options: AgentOptions, parts: Parts): AgentServer {
  const { config, version, clock, log } = options;
  const { keys, models, upstreams, learned, scheduler, executor, metrics, spans, machine, files } = parts;
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
    ...(files !== null && { weights: (model) => files.weightsOf(model, clock.now()) }),
  });
  const context: ConstructorParameters<typeof AgentServer>[0] = {
    identity: { name: config.name, version },
    models,
    keys,
    access: new Access(keys, { ...config, origins: [] }, hostname()),
    executor,
    orders: new ModelOrders(executor, (model) => modelRulesOf(model).unloads, clock, log),
    files,
    upstreams,
    learned,
    moment,
    engines: () => machine.attached.status(),
    metrics,
    spans,
    readLog: (model, lines) => readModelLog(machine.outputDirectory, model, lines),
    clock,
    log,
  };
  return new AgentServer(context, options.tls ?? null);
}

async function drainAndStop(
  server: AgentServer,
  executor: Executor,
  release: (readMs: number) => Promise<void>,
  { config, clock, log }: AgentOptions,
): Promise<void> {
  const error = stopping();
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
