import type { ClusterCollector, Outcome } from "../../src/cluster/collector.ts";
import { ENGINE_PARAMETERS, type EngineParameters } from "../../src/cluster/parameters.ts";
import type {
  Application,
  ClusterAction,
  ClusterPolicy,
  ClusterShape,
  ClusterView,
  ModelProfile,
  Role,
} from "../../src/cluster/types.ts";
import { type ClusterResult, runCluster } from "../../src/cluster/world.ts";
import type { Trace } from "../../src/trace/types.ts";

/** Round numbers: a prompt takes 10 ms + 0.1 ms a token, a step 2 ms + 0.1 ms a request + 0.1 us a token of context. */
const SHAPE: ClusterShape = {
  hosts: 2,
  devicesPerHost: 2,
  deviceMemory: 3e9,
  deviceCompute: 1e13,
  deviceBandwidth: 1e12,
  peerRate: 1e10,
  hostRate: 2e9,
  remoteRate: 1e9,
  diskRate: 2e8,
  hostMemory: 0,
};

const PARAMETERS: EngineParameters = {
  ...ENGINE_PARAMETERS,
  attentionTokens: Number.POSITIVE_INFINITY,
  prefillConstantMs: 10,
  stepConstantMs: 1,
  prefillShareBesideDecode: 0.5,
  decodeShareBesidePrefill: 0.5,
  paceBesideOther: 0.8,
  peerConstantMs: 100,
  hostConstantMs: 200,
  diskConstantMs: 300,
  pageBytes: 1e6,
  mapUs: 0,
};

export const MODEL: ModelProfile = {
  name: "small",
  weightBytes: 1e9,
  activeParameters: 5e8,
  kvBytesPerToken: 1e5,
  tensorParallel: 1,
  dataParallel: 1,
};

export const appOf = (name: string, over: Partial<Application> = {}): Application => ({
  name,
  model: MODEL,
  ttftMs: 1_000,
  tpotMs: 50,
  ...over,
});

interface Ask {
  at: number;
  app?: number;
  input?: number;
  output?: number;
}

function traceOf(asks: readonly Ask[], applications: readonly Application[]): Trace {
  return {
    applications: applications.map(({ name }) => name),
    at: Float64Array.from(asks, ({ at }) => at),
    app: Uint16Array.from(asks, ({ app = 0 }) => app),
    input: Uint32Array.from(asks, ({ input = 1_000 }) => input),
    output: Uint32Array.from(asks, ({ output = 11 }) => output),
  };
}

export const activate = (app: number, devices: readonly number[], role: Role = "both", live = false) =>
  ({ kind: "activate", app, role, devices, live, reason: "" }) satisfies ClusterAction;

export interface Ended {
  app: number;
  at: number;
  ttft: number;
  tpot: number;
  endedAt: number;
  outcome: Outcome;
  waited: number;
}

/** Notes all that a run tells of. */
export class Notes implements ClusterCollector {
  readonly ends: Ended[] = [];
  readonly loads: { source: string; bytes: number; ms: number }[] = [];
  readonly used: [number, number][] = [];
  moves = 0;
  evictions = 0;

  ended(app: number, at: number, first: number, endedAt: number, output: number, outcome: Outcome, waited: number) {
    const tpot = output > 1 ? (endedAt - first) / (output - 1) : 0;
    this.ends.push({ app, at, ttft: first - at, tpot, endedAt, outcome, waited });
  }

  devices(now: number, used: number) {
    this.used.push([now, used]);
  }

  loaded(source: string, bytes: number, ms: number) {
    this.loads.push({ source, bytes, ms });
  }

  moved() {
    this.moves += 1;
  }

  evicted() {
    this.evictions += 1;
  }
}

export interface Setting extends Partial<Omit<ClusterPolicy, "start">> {
  asks: readonly Ask[];
  applications?: readonly Application[];
  start?: readonly ClusterAction[];
  /** Done at these times. */
  later?: readonly { at: number; act: (view: ClusterView) => readonly ClusterAction[] }[];
  shape?: Partial<ClusterShape>;
  parameters?: Partial<EngineParameters>;
  prefix?: number[];
}

export function run(setting: Setting): { notes: Notes; result: ClusterResult } {
  const { asks, applications = [appOf("a")], start = [], later = [], shape, parameters } = setting;
  const notes = new Notes();
  const policy: ClusterPolicy = {
    name: "test",
    dispatch: setting.dispatch ?? "first-come",
    start: () => start,
    loops: [
      ...(setting.loops ?? []),
      ...later.map(({ at, act }) => {
        let isDone = false;
        const once = (view: ClusterView) => {
          if (isDone) return [];
          isDone = true;
          return act(view);
        };
        return { everyMs: at, run: once };
      }),
    ],
    ...(setting.onCold && { onCold: setting.onCold }),
  };
  const trace = traceOf(asks, applications);
  const result = runCluster({
    trace: setting.prefix === undefined ? trace : { ...trace, prefix: Uint32Array.from(setting.prefix) },
    applications,
    shape: { ...SHAPE, ...shape },
    policy,
    collector: notes,
    seed: 1,
    parameters: { ...PARAMETERS, ...parameters },
  });
  return { notes, result };
}
