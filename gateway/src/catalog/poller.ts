import type { LookupFunction } from "node:net";
import { EnginePoll, type PollResult } from "@farmgate/engines";
import { type CancelTimer, type Clock, isOutOfFiles, type Random } from "@farmgate/shared";
import { createPollAgent, pollGet } from "@farmgate/wire";
import type { Agent } from "undici";
import { isReached, isSure, type OwnReach, type ToldPoll, worthOf } from "../together/poll-duty.ts";
import { within } from "../within.ts";
import type { CatalogEvent, WorkerConfig } from "./types.ts";

export interface PollerSettings {
  /** Between the starts of two polls of one worker, in milliseconds; each time up to 10 % more or less. */
  intervalMs: number;
  /** For each GET of a poll, in milliseconds. */
  timeoutMs: number;
}

export interface PollerDeps {
  clock: Clock;
  random: Random;
  apply: (event: CatalogEvent) => void;
  /** Whether answer bytes of the worker came at or after `since` (ms of `now`): a long stream proves it alive. */
  flowing?: (worker: string, since: number) => boolean;
  /** After how many intervals the next poll is due, where gateways share them out; absent: after one. */
  pace?: (worker: string, reach: OwnReach) => number;
  /** How names are looked up for polls; absent: as the system does. */
  lookup?: LookupFunction;
  /** A poll that another gateway made is taken as one of its own. */
  applyTold?: (event: CatalogEvent) => void;
}

/** One worker under poll. */
interface Watched {
  config: WorkerConfig;
  poll: EnginePoll;
  /** Of a worker with authorities of its own; null: all others share one. */
  agent: Agent | null;
  stop: AbortController;
  /** When its last poll was started; null before the first. */
  startedAt: number | null;
  /** When another gateway last told of a poll that was taken; null: none did. */
  toldAt: number | null;
  reach: OwnReach;
  running: Promise<void> | null;
  cancelTimer: CancelTimer;
}

/** How far a poll may come before or after its time, as a share of the interval: workers are not asked in step. */
const JITTER = 0.1;

/** A change of one of these asks another worker, or in another way. */
const ASKED_BY = ["url", "ca", "engine", "apiKey"] as const;

/** Polls every worker at the health cadence and hands what it found to `apply`. */
export class CatalogPoller {
  readonly #deps: PollerDeps;
  readonly #agent: Agent;
  #settings: PollerSettings = { intervalMs: 5_000, timeoutMs: 2_000 };
  #watched = new Map<string, Watched>();
  #firstRound: Promise<unknown> | null = null;

  constructor(deps: PollerDeps) {
    this.#deps = deps;
    this.#agent = createPollAgent(null, deps.lookup);
  }

  /**
   * Starts, or goes on with another configuration: tells it to the catalogue, asks new and changed workers at once
   * and lets the others keep their pace and what is known of them.
   */
  configure(workers: readonly WorkerConfig[], settings: PollerSettings): void {
    this.#settings = settings;
    this.#deps.apply({ type: "configured", workers });
    const before = this.#watched;
    this.#watched = new Map(workers.map((config) => [config.name, this.#kept(before.get(config.name), config)]));
    for (const [name, watched] of before) if (this.#watched.get(name) !== watched) release(watched);
    const first = [...this.#watched.values()].map((watched) => this.#resume(watched));
    this.#firstRound ??= within(this.#deps.clock, Promise.all(first), settings.timeoutMs);
  }

  /** Settles when every worker of the first configuration was polled once, or `timeoutMs` after it. */
  get firstRound(): Promise<unknown> {
    return this.#firstRound ?? Promise.resolve();
  }

  /** Polls one worker now (or joins the poll under way); an unknown name does nothing. Never rejects. */
  pollNow(worker: string): Promise<void> {
    const watched = this.#watched.get(worker);
    return watched === undefined ? Promise.resolve() : this.#run(watched);
  }

  /** Takes a poll that another gateway made, or makes one of its own where that is safer; unknown names do nothing. */
  told(worker: string, poll: ToldPoll): void {
    const watched = this.#watched.get(worker);
    if (watched === undefined) return;
    const { clock, applyTold } = this.#deps;
    const { reach, startedAt, running } = watched;
    const own = { reach, startedAt, isRunning: running !== null, intervalMs: this.#settings.intervalMs };
    const worth = worthOf(poll, own, clock.now());
    if (worth === "poll") void this.#run(watched);
    if (worth !== "take" || poll.result === null) return;
    watched.toldAt = clock.now();
    this.#schedule(watched);
    applyTold?.({ type: "polled", worker, startedAt: poll.startedAt, result: poll.result });
  }

  /** A request had no luck with the worker: the next poll that counts is one of its own. */
  doubt(worker: string): void {
    const watched = this.#watched.get(worker);
    if (watched === undefined || !isSure(watched.reach)) return;
    watched.reach = "doubted";
    if (watched.running === null) this.#schedule(watched);
  }

  /** Polls are shared out anew. */
  reschedule(): void {
    for (const watched of this.#watched.values()) if (watched.running === null) this.#schedule(watched);
  }

  /** Ends every poll and timer. */
  async stop(): Promise<void> {
    const watched = [...this.#watched.values()];
    this.#watched.clear();
    for (const one of watched) release(one);
    await this.#agent.destroy();
  }

  #kept(last: Watched | undefined, config: WorkerConfig): Watched {
    const same = last !== undefined && ASKED_BY.every((key) => (last.config[key] ?? null) === (config[key] ?? null));
    if (same) return Object.assign(last, { config });
    const stop = new AbortController();
    const agent = config.ca ? createPollAgent(config.ca, this.#deps.lookup) : null;
    const get = async (path: string) => {
      const { timeoutMs } = this.#settings;
      const answer = await pollGet(agent ?? this.#agent, this.#deps.clock, config, path, timeoutMs, stop.signal);
      if (answer.kind === "silent" && isOutOfFiles(answer.reason)) throw new OwnTrouble(answer.reason);
      return answer;
    };
    const poll = new EnginePoll(config.engine, get);
    const nothingYet = { startedAt: null, toldAt: null, reach: "unknown", running: null } as const;
    return { config, poll, agent, stop, ...nothingYet, cancelTimer: () => {} };
  }

  /** A new worker is polled at once, one under way goes on, and any other keeps its pace at the new interval. */
  #resume(watched: Watched): Promise<void> {
    if (watched.running !== null) return watched.running;
    if (watched.startedAt === null) return this.#run(watched);
    this.#schedule(watched);
    return Promise.resolve();
  }

  #schedule(watched: Watched): void {
    watched.cancelTimer();
    const { clock, random, pace } = this.#deps;
    const { startedAt, toldAt, reach, config } = watched;
    const spread = (1 + JITTER * (2 * random() - 1)) * (pace?.(config.name, reach) ?? 1);
    // Who has doubts waits for its own poll, whatever it is told.
    const last = isSure(reach) && toldAt !== null ? Math.max(toldAt, startedAt ?? toldAt) : startedAt;
    const due = (last ?? clock.now()) + this.#settings.intervalMs * spread;
    watched.cancelTimer = clock.after(Math.max(0, due - clock.now()), () => void this.#run(watched));
  }

  #run(watched: Watched): Promise<void> {
    watched.running ??= this.#poll(watched).finally(() => {
      watched.running = null;
      if (!watched.stop.signal.aborted) this.#schedule(watched);
    });
    return watched.running;
  }

  async #poll(watched: Watched): Promise<void> {
    watched.cancelTimer();
    const { clock, apply } = this.#deps;
    const since = watched.startedAt;
    const startedAt = clock.now();
    watched.startedAt = startedAt;
    const result = await watched.poll.run().catch(unreadable);
    if (watched.stop.signal.aborted || result === null) return;
    const worker = watched.config.name;
    watched.reach = isReached(result) ? "reached" : "missed";
    apply({ type: "polled", worker, startedAt, result: this.#withStreams(worker, since ?? startedAt, result) });
  }

  /** A worker that streams is alive, though its poll went unanswered. */
  #withStreams(worker: string, since: number, result: PollResult): PollResult {
    if (result.kind !== "dead" || this.#deps.flowing?.(worker, since) !== true) return result;
    return { kind: "no_catalog", engine: null, reason: `its catalogue: ${result.reason}; its answers still flow` };
  }
}

function release(watched: Watched): void {
  watched.cancelTimer();
  watched.stop.abort();
  void watched.agent?.destroy();
}

/** The gateway could not ask: that says nothing of the worker, which would be given up with all others. */
class OwnTrouble extends Error {}

/** A fault of our own in reading an answer must neither stop the polls nor pass unseen. */
function unreadable(error: unknown): PollResult | null {
  if (error instanceof OwnTrouble) return null;
  const reason = `its catalogue could not be read: ${error instanceof Error ? error.message : String(error)}`;
  return { kind: "no_catalog", engine: null, reason };
}
