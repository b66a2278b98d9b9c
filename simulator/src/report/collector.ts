import { AppFigures } from "./app-figures.ts";
import { LogHistogram } from "./log-histogram.ts";
import { TimeWindows } from "./time-windows.ts";
import type { Attainment, LoadSource, LoadSums, Outcome, Report } from "./types.ts";

/** Points of the TTFT distribution that a report tells. */
const DISTRIBUTION_POINTS = 200;
const DEFAULT_WINDOW_MS = 10_000;
const HOUR_MS = 3_600_000;

export interface CollectorOptions {
  /** Limits in milliseconds; Infinity: none. */
  applications: readonly { name: string; ttftMs: number; tpotMs: number }[];
  /** Of the trace. */
  spanMs: number;
  /** Of a point in what is told over time. */
  windowMs?: number;
  /** Parts of the trace that are told apart; a name may come more than once. Milliseconds. */
  parts?: readonly { name: string; from: number; to: number }[];
}

/** Sums up a run as it goes: what it holds does not grow with the number of requests. Times: virtual milliseconds. */
export class Collector {
  readonly #options: CollectorOptions;
  readonly #windowMs: number;
  readonly #apps: AppFigures[];
  readonly #ttft = new LogHistogram();
  readonly #tpot = new LogHistogram();
  readonly #wait = new LogHistogram();
  readonly #total = new LogHistogram();
  readonly #arrived: TimeWindows;
  readonly #onTime: TimeWindows;
  readonly #goodput: TimeWindows;
  readonly #deviceMs: TimeWindows;
  #devices = { since: 0, used: 0, ms: 0 };
  #makespan = 0;
  #longestWait = 0;
  readonly #loads: Record<LoadSource, LoadSums> = { fork: none(), peer: none(), host: none(), disk: none() };
  #moves = 0;
  #evictions = 0;
  #swaps = 0;

  constructor(options: CollectorOptions) {
    const { spanMs, windowMs = DEFAULT_WINDOW_MS } = options;
    this.#options = options;
    this.#windowMs = windowMs;
    this.#apps = options.applications.map((limits) => new AppFigures(limits));
    this.#arrived = new TimeWindows(windowMs, spanMs);
    this.#onTime = new TimeWindows(windowMs, spanMs);
    this.#goodput = new TimeWindows(windowMs, spanMs);
    this.#deviceMs = new TimeWindows(windowMs, spanMs);
  }

  /**
   * Once for each request. `firstTokenAt`: any number where no token came. `waitedMs`: before anything worked at it.
   * `ttftMs`: its own limit in place of its application's.
   */
  ended(
    app: number,
    arrivedAt: number,
    firstTokenAt: number,
    endedAt: number,
    outputTokens: number,
    outcome: Outcome,
    waitedMs = 0,
    ttftMs?: number,
  ): void {
    const figures = this.#apps[app];
    if (figures === undefined) throw new RangeError(`there is no application ${app}`);
    const ttft = firstTokenAt - arrivedAt;
    // One token has no token after it.
    const tpot = outputTokens > 1 ? (endedAt - firstTokenAt) / (outputTokens - 1) : 0;
    const isOnTime = figures.ended(ttft, tpot, outputTokens > 1, waitedMs, outcome, ttftMs);
    this.#arrived.add(arrivedAt, 1);
    if (endedAt > this.#makespan) this.#makespan = endedAt;
    if (waitedMs > this.#longestWait) this.#longestWait = waitedMs;
    if (isOnTime) {
      this.#onTime.add(arrivedAt, 1);
      this.#goodput.add(endedAt, 1);
    }
    if (outcome !== "done") return;
    this.#ttft.add(ttft);
    if (outputTokens > 1) this.#tpot.add(tpot);
    this.#wait.add(waitedMs);
    this.#total.add(endedAt - arrivedAt);
  }

  /** From now on so many are in use. Time never goes back. */
  devices(now: number, used: number): void {
    const { since, used: before } = this.#devices;
    this.#deviceMs.hold(since, now, before);
    this.#devices = { since: now, used, ms: this.#devices.ms + before * (now - since) };
  }

  loaded(source: LoadSource, bytes: number, ms: number): void {
    const sums = this.#loads[source];
    sums.count += 1;
    sums.bytes += bytes;
    sums.ms += ms;
  }

  moved(): void {
    this.#moves += 1;
  }

  /** A model was put out of a device's or a worker's memory for another one. */
  evicted(): void {
    this.#evictions += 1;
  }

  /** A worker has loaded another model than the one before. */
  swapped(): void {
    this.#swaps += 1;
  }

  /** Sums up what was up to `now`. `run`: figures of the run itself. */
  report(name: string, now: number, run: Record<string, number> = {}): Report {
    this.devices(now, this.#devices.used);
    const applications = this.#apps.map((figures) => figures.report());
    const asked = applications.flatMap(({ name, attainment }) => (attainment === null ? [] : [{ name, attainment }]));
    const worst = asked.reduce<(typeof asked)[number] | null>(
      (least, one) => (least === null || one.attainment < least.attainment ? one : least),
      null,
    );
    const outcomes = { done: 0, refused: 0, "timed-out": 0, failed: 0 };
    for (const one of applications) for (const key of OUTCOMES) outcomes[key] += one.outcomes[key];
    return {
      name,
      ...attained(sumOf(applications, "requests"), sumOf(applications, "onTime")),
      outcomes,
      worst: worst && { application: worst.name, attainment: worst.attainment },
      meanOfApplications: asked.length === 0 ? null : sumOf(asked, "attainment") / asked.length,
      applications,
      parts: this.#parts(),
      ttftMs: this.#ttft.percentiles(),
      tpotMs: this.#tpot.percentiles(),
      waitMs: this.#wait.percentiles(),
      totalMs: this.#total.percentiles(),
      makespanMs: this.#makespan,
      longestWaitMs: this.#longestWait,
      devices: this.#devicesUpTo(now),
      loads: structuredClone(this.#loads),
      bytesMoved: Object.values(this.#loads).reduce((sum, { bytes }) => sum + bytes, 0),
      moves: this.#moves,
      evictions: this.#evictions,
      swaps: this.#swaps,
      windows: this.#windows(now),
      ttftPoints: this.#ttft.points(DISTRIBUTION_POINTS),
      run,
    };
  }

  #parts(): Report["parts"] {
    const parts = this.#options.parts ?? [];
    return [...new Set(parts.map(({ name }) => name))].map((name) => {
      let [requests, onTime] = [0, 0];
      for (let window = 0; window < this.#arrived.length; window += 1) {
        const middle = (window + 0.5) * this.#windowMs;
        if (!parts.some((part) => part.name === name && part.from <= middle && middle < part.to)) continue;
        requests += this.#arrived.sum(window);
        onTime += this.#onTime.sum(window);
      }
      return { name, ...attained(requests, onTime) };
    });
  }

  #devicesUpTo(now: number): Report["devices"] {
    const { ms } = this.#devices;
    const whole = Math.max(1, Math.min(this.#deviceMs.length, Math.floor(now / this.#windowMs)));
    const levels = Array.from({ length: whole }, (_, window) => this.#deviceMs.sum(window) / this.#windowMs);
    const mean = now > 0 ? ms / now : 0;
    return { hours: ms / HOUR_MS, mean, most: Math.max(...levels), least: Math.min(...levels) };
  }

  #windows(now: number): Report["windows"] {
    const length = Math.max(this.#arrived.length, this.#goodput.length, this.#deviceMs.length);
    const each = <T>(figure: (window: number) => T) => Array.from({ length }, (_, window) => figure(window));
    const seconds = this.#windowMs / 1_000;
    // The last one may be cut off.
    const lasted = (window: number) => Math.min(this.#windowMs, Math.max(1, now - window * this.#windowMs));
    return {
      windowMs: this.#windowMs,
      attainment: each((window) => attained(this.#arrived.sum(window), this.#onTime.sum(window)).attainment),
      arrived: each((window) => this.#arrived.sum(window) / seconds),
      goodput: each((window) => this.#goodput.sum(window) / seconds),
      devices: each((window) => this.#deviceMs.sum(window) / lasted(window)),
    };
  }
}

const OUTCOMES: readonly Outcome[] = ["done", "refused", "timed-out", "failed"];

function none(): LoadSums {
  return { count: 0, bytes: 0, ms: 0 };
}

function attained(requests: number, onTime: number): Attainment {
  return { requests, onTime, attainment: requests === 0 ? null : onTime / requests };
}

function sumOf<K extends string>(list: readonly Record<K, number>[], key: K): number {
  return list.reduce((sum, one) => sum + one[key], 0);
}
