import type { Percentiles } from "./log-histogram.ts";

/** How a request ended. `refused`: at once; `timed-out`: after it had waited, or it never ended; `failed`: an error. */
export type Outcome = "done" | "refused" | "timed-out" | "failed";

/** From where a model's weights came; `fork`: copied from a device where they are loaded. */
export type LoadSource = "fork" | "peer" | "host" | "disk";

export interface LoadSums {
  count: number;
  bytes: number;
  /** Summed over the loads. */
  ms: number;
}

/** A request is on time when it is done within both limits of its application; every other one is a miss. */
export interface Attainment {
  requests: number;
  onTime: number;
  /** 0 to 1; null: no requests. */
  attainment: number | null;
}

export interface ApplicationReport extends Attainment {
  name: string;
  outcomes: Record<Outcome, number>;
  ttftMs: Percentiles | null;
  tpotMs: Percentiles | null;
  waitMs: Percentiles | null;
}

/** All about one run. Plain data: JSON as it is. */
export interface Report extends Attainment {
  /** Of the policy, or of the setting. */
  name: string;
  outcomes: Record<Outcome, number>;
  /** The lowest attainment of an application that was asked for anything; null: none was. */
  worst: { application: string; attainment: number } | null;
  /** Of the applications that were asked for anything, each counting the same; null: none was. */
  meanOfApplications: number | null;
  applications: ApplicationReport[];
  /** By arrival. */
  parts: (Attainment & { name: string })[];
  /** Of requests that were done: to the first token, for each token after it, in the queue, to the end. */
  ttftMs: Percentiles | null;
  tpotMs: Percentiles | null;
  waitMs: Percentiles | null;
  totalMs: Percentiles | null;
  /** When the last request ended. */
  makespanMs: number;
  /** Of any request, done or not. */
  longestWaitMs: number;
  /** `hours`: summed over the devices in use. `most` and `least` are means of a window. */
  devices: { hours: number; mean: number; most: number; least: number };
  loads: Record<LoadSource, LoadSums>;
  bytesMoved: number;
  moves: number;
  evictions: number;
  swaps: number;
  /** One entry a window, each `windowMs` long; the first begins at 0. */
  windows: {
    windowMs: number;
    /** By arrival. */
    attainment: (number | null)[];
    /** Requests a second: that came, and that ended on time. */
    arrived: number[];
    goodput: number[];
    devices: number[];
  };
  /** Of the distribution of TTFT: milliseconds, and the share of done requests that had it by then. */
  ttftPoints: { value: number; share: number }[];
  /** Figures of the run itself, as events or peak bytes; whatever its runner has. */
  run: Record<string, number>;
}
