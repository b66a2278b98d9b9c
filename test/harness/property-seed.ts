import * as fc from "fast-check";
import { vi } from "vitest";

/**
 * Property tests draw the same examples in each run, so that a red one tells of a change and not of luck.
 * FARMGATE_SEED is another seed: a number, or `random` to search for what no run has met yet.
 * FARMGATE_RUNS is how many times as many examples each of them draws, in as many times the time.
 */
const { FARMGATE_SEED: given, FARMGATE_RUNS: times = "1" } = process.env;
if (given !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given ?? 1) });

const factor = Number(times);
if (factor !== 1) {
  const assert = <T>(property: fc.IAsyncProperty<T>, params: fc.Parameters<T> = {}) =>
    fc.assert(property, { ...params, numRuns: (params.numRuns ?? 100) * factor });
  vi.doMock("fast-check", async (original) => ({ ...(await original<typeof fc>()), assert }));
  vi.setConfig({ testTimeout: 60_000 * factor });
}
