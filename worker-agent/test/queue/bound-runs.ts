// `npm run bound -- [--runs N] [--seed S] [--of NAME]`: holds the wait of every job of N random workloads of each kind
// against its bound, prints the largest share of it, and fails when one is above 1. Workload i comes from seed S + i
// alone, so that a run can be split: `--runs 5000 --seed 1`, `--runs 5000 --seed 5001` and so on.
import { parseArgs } from "node:util";
import { formatDuration, seededRandom } from "@farmgate/shared";
import { type Kind, steadyWorkload, worstAgainstBound } from "./workloads.ts";

const KINDS: Record<string, Kind> = {
  "one-caller": { mixed: false },
  "several-callers": { mixed: true },
  "together-one-caller": { mixed: false, together: true },
  "together-several-callers": { mixed: true, together: true },
};

function numberOf(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) throw new Error(`--${name} is not a number from ${least} on: ${text}`);
  return value;
}

/** The worst of one kind in words; every violation with the seed that repeats it. */
function tryKind(name: string, kind: Kind, runs: number, first: number): { line: string; violations: string[] } {
  const violations: string[] = [];
  let worst = { ratio: 0, wait: 0, bound: 0, seed: first };
  let jobs = 0;
  for (let seed = first; seed < first + runs; seed += 1) {
    const found = tryOne(seed, kind);
    if (typeof found === "string") {
      violations.push(`${name}, seed ${seed}: ${found}`);
      continue;
    }
    jobs += found.drive.ended.size;
    if (found.ratio > 1) {
      const { id, wait, bound } = found;
      violations.push(`${name}, seed ${seed}: job ${id} waited ${wait} ms, its bound is ${bound} ms`);
    }
    if (found.ratio > worst.ratio) worst = { ratio: found.ratio, wait: found.wait, bound: found.bound, seed };
  }
  // Rounded down, so that 1 is said only where it was reached.
  const share = `${(Math.floor(worst.ratio * 10_000) / 10_000).toFixed(4)} (${formatDuration(worst.wait)} of ${formatDuration(worst.bound)})`;
  return { line: `| ${name} | ${runs} | ${jobs} | ${share} | ${worst.seed} | ${violations.length} |`, violations };
}

/** What the drive throws, such as a job that is forgotten, is a violation as well. */
function tryOne(seed: number, kind: Kind) {
  try {
    return worstAgainstBound(steadyWorkload(seededRandom(seed), kind));
  } catch (error) {
    return (error as Error).message;
  }
}

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "1000" },
    seed: { type: "string", default: "1" },
    of: { type: "string", multiple: true, default: Object.keys(KINDS) },
  },
});
const [runs, seed] = [numberOf("runs", values.runs, 1), numberOf("seed", values.seed, 0)];
console.log("| workloads | runs | jobs | largest wait : bound | its seed | violations |");
console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
for (const name of values.of) {
  const kind = KINDS[name];
  if (kind === undefined) throw new Error(`no workloads ${name}; there are ${Object.keys(KINDS).join(", ")}`);
  const { line, violations } = tryKind(name, kind, runs, seed);
  console.log(line);
  for (const violation of violations) console.error(violation);
  if (violations.length > 0) process.exitCode = 1;
}
