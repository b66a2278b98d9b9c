import { performance } from "node:perf_hooks";
import { type Random, seededRandom } from "@farmgate/shared";
import { GaussianProcess, type Point } from "@farmgate/gateway/policies";
import { median } from "../bench/report/median.ts";
import { normal } from "./oracle-truth.ts";

const DIMENSIONS = 6;
const STEPS = 30;

/** What one Gaussian process of six inputs costs, all of its points taken; medians. */
export function processCosts(): string[][] {
  const rows = [["points", "fit, 30 steps, ms", "one added, µs", "one predicted, µs", "16 predicted at once, µs"]];
  for (const size of [50, 200, 1000]) {
    const random = seededRandom(size);
    const process = new GaussianProcess(DIMENSIONS);
    process.reset(Array.from({ length: size }, () => point(random)));
    const fits = timed(size > 200 ? 1 : 5, () => process.fit({ random, starts: 1, steps: STEPS, points: size }));
    const adds = timed(200, () => {
      // The size stays what it is.
      process.remove(process.size - 1);
      process.add(point(random));
      process.predict(point(random).input);
    });
    const inputs = Array.from({ length: 16 }, () => point(random).input);
    const ones = timed(2000, () => process.predict(inputs[0] as readonly number[]));
    const sixteen = timed(500, () => process.predictAll(inputs));
    rows.push([
      String(size),
      (fits * 1e3).toFixed(0),
      ...[adds - ones, ones, sixteen].map((s) => (s * 1e6).toFixed(0)),
    ]);
  }
  return rows;
}

/** Seconds. */
function timed(times: number, run: () => void): number {
  const seconds: number[] = [];
  for (let at = 0; at < times; at += 1) {
    const from = performance.now();
    run();
    seconds.push((performance.now() - from) / 1e3);
  }
  return median(seconds);
}

function point(random: Random): Point {
  const input = Array.from({ length: DIMENSIONS }, () => 4 * random());
  const [a = 0, b = 0, c = 0] = input;
  return { input, output: Math.sin(a) + b / 4 + a * c * 0.1 + 0.05 * normal(random), weight: 1, scatter: 0 };
}
