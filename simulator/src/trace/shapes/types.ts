import type { LogNormal } from "../draws.ts";

/** Stretches in which an application is asked more; all lengths are drawn from exponential distributions. */
export interface BurstShape {
  /** Of the rate outside of bursts. */
  factor: number;
  /** Mean, and never less than. */
  meanMs: number;
  leastMs: number;
  /** Mean time from the end of one to the begin of the next. */
  gapMs: number;
}

export interface LoadedApplication {
  name: string;
  /** Place of the model that it is made from in a list of base models. */
  baseModel: number;
  /** Of all requests, 0 to 1. */
  share: number;
  /** Tokens. */
  input: LogNormal;
  output: LogNormal;
  burst: BurstShape;
}
