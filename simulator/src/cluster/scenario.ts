import type { ModelLoad } from "@farmgate/gateway/policies";
import { dayParts } from "../trace/shapes/day.ts";
import { fiveBurst } from "../trace/shapes/five-burst.ts";
import { replayedBy, thinned } from "../trace/shapes/reshape.ts";
import type { LoadedApplication } from "../trace/shapes/types.ts";
import { w0Applications } from "../trace/shapes/w0-applications.ts";
import { flatPoisson, W0_COMPRESSION, W0_DURATION_MS, w0 } from "../trace/shapes/w0.ts";
import type { Trace } from "../trace/types.ts";
import type { ScenarioName } from "./names.ts";
import { ENGINE_PARAMETERS } from "./parameters.ts";
import { spanOf } from "./policies/spans.ts";
import { busyDevices } from "./policies/speeds.ts";
import { applicationOf, BASE_MODELS, PUBLISHED_SHAPE, shapeOf } from "./profiles.ts";
import { prefillMs } from "./timing.ts";
import type { Application, ClusterShape, ModelProfile } from "./types.ts";

/** What the policies are compared on: a load and the devices for it. */
export interface Scenario {
  name: string;
  shape: ClusterShape;
  applications: readonly Application[];
  trace: Trace;
  /** Milliseconds of the trace; 0: until its last request. */
  spanMs: number;
  /** Parts that are told apart. */
  parts: readonly { name: string; from: number; to: number }[];
  /** Device-hours of the run, times this, are those of the day that it stands for. */
  compression: number;
  /** Devices that each application keeps busy on average, by arithmetic. */
  demand: readonly number[];
}

/** Those that replay a recorded trace, and the file of it as it is published in short. */
export const TRACE_FILES: Partial<Record<ScenarioName, string>> = {
  azure: "azure_llm_2023_conv.csv.gz",
  mooncake: "mooncake_conversation.jsonl.gz",
  servegen: "servegen_rates_2days.csv.gz",
};

export interface ScenarioOptions {
  seed: number;
  /** Of the requests. */
  scale?: number;
  /** What was recorded, for those that replay it. */
  recorded?: Trace | null;
}

/** An eighth of W0's hosts. */
const EIGHTH_HOSTS = 6;
/**
 * Of W0's applications those of its seven large ones that take at most half a host, and every eighth of the others, of
 * the same sizes. One replica of each of all 62 would take 352 devices, and with every eighth of all, one application
 * would have nine tenths of the load.
 */
const LARGE = 7;
const MOST_SPAN = 8;
/**
 * Of the devices' time, on average: what W0 as it is generated takes at the limits, by arithmetic. All other loads but
 * the burst are scaled to it.
 */
const MEAN_DEMAND = 0.23;

export function scenarioOf(name: ScenarioName, { seed, scale = 1, recorded = null }: ScenarioOptions): Scenario {
  switch (name) {
    case "w0": {
      const loaded = w0Applications();
      const all = { name, shape: PUBLISHED_SHAPE, applications: served(loaded, PUBLISHED_SHAPE) };
      return withDemand({ ...all, ...ofDay(), trace: w0({ seed, scale }) });
    }
    case "w0-eighth": {
      const loaded = eighth();
      const all = { name, ...eighthCluster(loaded), ...ofDay() };
      return scaled(all, scale, (share) => w0({ seed, scale: share, applications: loaded }));
    }
    case "poisson": {
      const loaded = eighth();
      const all = { name, ...eighthCluster(loaded), spanMs: W0_DURATION_MS, parts: [], compression: 1 };
      return scaled(all, scale, (share) => flatPoisson({ seed, scale: share, applications: loaded }));
    }
    case "five-burst":
      return fiveBurstScenario(seed);
    case "azure":
    case "mooncake":
    case "servegen": {
      if (recorded === null) throw new RangeError(`${name} replays a recorded trace, and none was given`);
      return replayed(name, recorded, seed, scale);
    }
  }
}

type Bare = Omit<Scenario, "demand" | "trace">;

/** Its requests made as many as `MEAN_DEMAND` asks for; times `scale`. */
function scaled(all: Bare, scale: number, make: (share: number) => Trace): Scenario {
  const first = 1 / 8;
  const sum = withDemand({ ...all, trace: make(first) }).demand.reduce((total, one) => total + one, 0);
  const devices = all.shape.hosts * all.shape.devicesPerHost;
  return withDemand({ ...all, trace: make((first * scale * MEAN_DEMAND * devices) / sum) });
}

/** A recorded load, played by the applications of `eighth`, each from its own place in it. */
function replayed(name: string, recorded: Trace, seed: number, scale: number): Scenario {
  const loaded = eighth();
  const spanMs = (recorded.at[recorded.at.length - 1] ?? 0) + 1;
  const cluster = eighthCluster(loaded, meanOf(recorded.input));
  const all = { name, ...cluster, spanMs, parts: [], compression: 1 };
  const one = recorded.applications.length === 1 ? recorded : merged(recorded);
  return scaled(all, scale, (share) => {
    const times = share * 8;
    // Played by several, a part of a trace is drawn request by request.
    return times < 1 ? replayedBy(thinned(one, times, seed), loaded, 1, seed) : replayedBy(one, loaded, times, seed);
  });
}

/** One application in the place of several. */
function merged(trace: Trace): Trace {
  return { ...trace, applications: ["all"], app: new Uint16Array(trace.app.length) };
}

/** Five applications of one model on two small hosts: less than a prefill and a decode device for each. */
function fiveBurstScenario(seed: number): Scenario {
  const loaded = w0Applications()
    .slice(0, 5)
    .map((one) => ({ ...one, baseModel: FIVE_BURST_MODEL, share: 1 / 5, ...FIVE_BURST_LENGTHS }));
  const shape = { ...shapeOf(2), devicesPerHost: FIVE_BURST_DEVICES / 2 };
  const parts = [
    { name: "calm", from: 0, to: 120_000 },
    { name: "burst", from: 120_000, to: 240_000 },
    { name: "after", from: 240_000, to: 360_000 },
  ];
  const trace = fiveBurst({ seed, applications: loaded });
  const all = { name: "five-burst", shape, applications: served(loaded, shape), trace, parts };
  return withDemand({ ...all, spanMs: 360_000, compression: 1 });
}

/** The middling one of those that one device holds. */
const FIVE_BURST_MODEL = 2;
const FIVE_BURST_DEVICES = 8;
/** The medians of W0. */
const FIVE_BURST_LENGTHS = {
  input: { median: 600, sigma: 0.7, most: 32_768 },
  output: { median: 129, sigma: 0.8, most: 4_096 },
};

function ofDay(): Pick<Scenario, "spanMs" | "parts" | "compression"> {
  return { spanMs: W0_DURATION_MS, parts: dayParts(W0_DURATION_MS), compression: W0_COMPRESSION };
}

function eighth(): LoadedApplication[] {
  return w0Applications().filter(({ baseModel }, place) => {
    const model = BASE_MODELS[baseModel];
    return (place < LARGE || place % 8 === LARGE) && model !== undefined && spanOf(model) <= MOST_SPAN;
  });
}

function eighthCluster(loaded: readonly LoadedApplication[], meanPrompt = 0) {
  const shape = shapeOf(EIGHTH_HOSTS);
  return { shape, applications: served(loaded, shape, meanPrompt) };
}

/** Limits as everywhere; where prompts are longer than usual, five times an undisturbed mean prompt. */
function served(loaded: readonly LoadedApplication[], shape: ClusterShape, meanPrompt = 0): Application[] {
  return loaded.map(({ name, baseModel }) => {
    const model = BASE_MODELS[baseModel] as ModelProfile;
    const application = applicationOf(name, model, shape);
    const forPrompt = 5 * prefillMs(model, shape, ENGINE_PARAMETERS, meanPrompt);
    return { ...application, ttftMs: Math.max(application.ttftMs, forPrompt) };
  });
}

function withDemand(all: Omit<Scenario, "demand">): Scenario {
  const { applications, shape, trace, spanMs } = all;
  const loads = meanLoads(trace, spanMs);
  const demand = applications.map((one, app) => busyDevices(shape, one, loads[app] as ModelLoad));
  return { ...all, demand };
}

/** Of each application over the whole trace. Variances are left at 0. */
function meanLoads({ applications, app, input, output }: Trace, spanMs: number): ModelLoad[] {
  const sums = applications.map(() => ({ requests: 0, input: 0, output: 0 }));
  for (let i = 0; i < app.length; i += 1) {
    const sum = sums[app[i] ?? 0];
    if (sum === undefined) continue;
    sum.requests += 1;
    sum.input += input[i] ?? 0;
    sum.output += output[i] ?? 0;
  }
  return sums.map((sum) => {
    const count = Math.max(1, sum.requests);
    const [inputMean, outputMean] = [sum.input / count, sum.output / count];
    const requestsPerSecond = (1000 * sum.requests) / Math.max(1, spanMs);
    return { requestsPerSecond, inputMean, inputVariance: 0, outputMean, outputVariance: 0 };
  });
}

function meanOf(column: Uint32Array): number {
  return column.reduce((sum, value) => sum + value, 0) / Math.max(1, column.length);
}
