// `npm run measure -- oracle`: how far the Oracles are from measurements that they have not seen, and what they cost.
import { CapacityOracle, ElasticityOracle, type ModelFacts } from "@farmgate/gateway/policies";
import { type Random, seededRandom } from "@farmgate/shared";
import { median, percentile } from "../bench/report/median.ts";
import { aligned } from "../bench/report/table.ts";
import { processCosts } from "./oracle-costs.ts";
import { counted, DEVICE, normal, onTime, someLoad, someModel, type TrueModel, takes } from "./oracle-truth.ts";

const MODELS = 6;
const HELD_OUT = 100;
/** Deviations of the measurements, in proportion: memory is read, the others are averaged over a window. */
const NOISE = { memory: 0.01, compute: 0.08, bandwidth: 0.08 };
/** Requests of a window that a share on time is counted in. */
const WINDOW = 200;
const MOST_REPLICAS = 8;
const NAMES = ["memory", "compute", "bandwidth"] as const;
/** Deviations of the middle 90 % of a normal distribution. */
const NINETY = 1.645;

type Value = (typeof NAMES)[number] | "share on time";
type Figures = Record<Value, { errors: number[]; inside: number[] }>;

export async function measureOracle(): Promise<void> {
  const rows = [["measured so far", "value", "error P50", "P90", "in the 90 % interval", "said to drift"]];
  for (const told of [true, false]) {
    for (const count of told ? [0, 20, 50, 200, 1000] : [0, 20, 200]) rows.push(...learned(count, told));
  }
  console.log(`\n${aligned(rows)}`);
  console.log("published, P90: memory 2.75 %, compute and bandwidth 24 %, share on time 19 points\n");
  console.log(`${aligned(processCosts())}\n`);
}

function learned(count: number, told: boolean): string[][] {
  const figures: Figures = {
    memory: { errors: [], inside: [] },
    compute: { errors: [], inside: [] },
    bandwidth: { errors: [], inside: [] },
    "share on time": { errors: [], inside: [] },
  };
  let drifts = 0;
  for (let seed = 1; seed <= MODELS; seed += 1) drifts += oneModel(seededRandom(seed), count, told, figures);
  return Object.entries(figures).map(([name, { errors, inside }], at) => [
    at === 0 ? `${count}${told ? "" : ", size not told"}` : "",
    name,
    amount(name, median(errors)),
    amount(name, percentile(errors, 0.9)),
    `${((100 * inside.reduce((sum, one) => sum + one, 0)) / inside.length).toFixed(0)} %`,
    at === 0 ? `${drifts} of ${MODELS}` : "",
  ]);
}

function amount(name: string, error: number): string {
  return name === "share on time" ? `${(100 * error).toFixed(1)} points` : `${(100 * error).toFixed(1)} %`;
}

/** Teaches one model's Oracles and compares them with measurements that they have not seen; 1 if one of them drifted. */
function oneModel(random: Random, count: number, told: boolean, figures: Figures): number {
  const truth = someModel(random);
  const { weightBytes, activeParameters, kvBytesPerToken } = truth;
  const facts = (): ModelFacts => (told ? { weightBytes, activeParameters, kvBytesPerToken } : {});
  const options = { learning: { random }, facts, device: DEVICE };
  const capacity = new CapacityOracle(options);
  const elasticity = new ElasticityOracle(options);
  let drifted = 0;
  for (let at = 0; at < count; at += 1) {
    const { load, took, replicas, share } = measurement(truth, random);
    capacity.observe("m", load, took);
    elasticity.observe("m", load, replicas, share);
    if (capacity.fitness("m") !== "fits" || elasticity.fitness("m") !== "fits") drifted = 1;
  }
  for (let at = 0; at < HELD_OUT; at += 1) {
    const { load, took, replicas, share } = measurement(truth, random);
    const real = takes(truth, load);
    const predictions = capacity.predict("m", load);
    for (const name of NAMES) {
      const { mean, variance } = predictions[name];
      figures[name].errors.push(Math.abs(mean / real[name] - 1));
      figures[name].inside.push(Math.abs(took[name] - mean) <= NINETY * Math.sqrt(variance) ? 1 : 0);
    }
    const { mean, variance } = elasticity.predict("m", load, replicas);
    figures["share on time"].errors.push(Math.abs(mean - onTime(truth, load, replicas)));
    figures["share on time"].inside.push(Math.abs(share - mean) <= NINETY * Math.sqrt(variance) ? 1 : 0);
  }
  return drifted;
}

function measurement(truth: TrueModel, random: Random) {
  const load = someLoad(truth, random);
  const real = takes(truth, load);
  const noisy = (name: (typeof NAMES)[number]) => real[name] * Math.exp(NOISE[name] * normal(random));
  const replicas = 1 + Math.floor(MOST_REPLICAS * random());
  return {
    load,
    took: { memory: noisy("memory"), compute: noisy("compute"), bandwidth: noisy("bandwidth") },
    replicas,
    share: counted(onTime(truth, load, replicas), WINDOW, random),
  };
}
