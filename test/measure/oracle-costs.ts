import { type Random, seededRandom } from "@farmgate/shared";
import { GaussianProcess, type Point } from "@farmgate/gateway/policies";
import { normal } from "./oracle-truth.ts";

const DIMENSIONS = 6;
const STEPS = 30;

/** What one Gaussian process of six inputs costs, fitted to all of its points; CPU time. */
export function processCosts(): string[][] {
  const rows = [["points", "fit, 30 steps, ms", "one added, µs", "one predicted, µs", "16 predicted at once, µs"]];
  for (const size of [50, 200, 1000]) {
    const random = seededRandom(size);
    const its = new GaussianProcess(DIMENSIONS);
    its.reset(Array.from({ length: size }, () => point(random)));
    // One step of each climb takes as long as the next.
    const fit = timed(1, size > 200 ? 1 : 10, () => its.fit({ random, starts: 1, steps: 1, points: size })) * STEPS;
    const adds = timed(5, 40, () => {
      // The size stays what it is.
      its.remove(its.size - 1);
      its.add(point(random));
      its.predict(point(random).input);
    });
    const inputs = Array.from({ length: 16 }, () => point(random).input);
    const ones = timed(5, 400, () => its.predict(inputs[0]));
    const sixteen = timed(5, 50, () => its.predictAll(inputs));
    rows.push([String(size), (fit * 1e3).toFixed(0), ...[adds - ones, ones, sixteen].map((s) => (s * 1e6).toFixed(0))]);
  }
  return rows;
}

/** Seconds of CPU that one run takes: the least of several rounds of `times`, since what else runs only adds. */
function timed(rounds: number, times: number, run: () => void): number {
  let least = Infinity;
  for (let round = 0; round < rounds; round += 1) {
    const before = process.cpuUsage();
    for (let at = 0; at < times; at += 1) run();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1e6 / times);
  }
  return least;
}

function point(random: Random): Point {
  const input = Array.from({ length: DIMENSIONS }, () => 4 * random());
  const [a = 0, b = 0, c = 0] = input;
  return { input, output: Math.sin(a) + b / 4 + a * c * 0.1 + 0.05 * normal(random), weight: 1, scatter: 0 };
}
