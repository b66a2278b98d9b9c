// `npm run measure -- WHAT`: what a farm does when a worker dies, when it is asked for too much, what a copy costs,
// how far the Oracles are off, who is on time by which order of the queue, how gateways act as one, and what Prometheus
// sees of a farm.
import { parseArgs } from "node:util";
import type { Children } from "../bench/process/children.ts";
import { withChildren } from "../bench/process/with-children.ts";
import { measureKill } from "./kill.ts";
import { measureOracle } from "./oracle.ts";
import { measureOverload } from "./overload.ts";
import { measurePeerCopy } from "./peer-copy.ts";
import { measurePrediction } from "./prediction.ts";
import { measurePrometheus } from "./prometheus.ts";
import { measureScheduling } from "./scheduling/measure.ts";
import { measureGateways } from "./together/distribution.ts";
import { measureRedis } from "./together/redis-faults.ts";

interface Options {
  what: keyof typeof MEASURES;
  /** Of overload. */
  seconds: number;
  quick: boolean;
  /** Of prometheus. */
  pictures: string | null;
}

const MEASURES = {
  kill: measureKill,
  overload: measureOverload,
  "peer-copy": measurePeerCopy,
  oracle: measureOracle,
  scheduling: measureScheduling,
  prediction: measurePrediction,
  prometheus: measurePrometheus,
  gateways: measureGateways,
  redis: measureRedis,
};

const usage = `npm run measure -- kill [--quick]
npm run measure -- overload [--seconds 60]
npm run measure -- peer-copy [--quick]
npm run measure -- oracle
npm run measure -- scheduling [--quick]
npm run measure -- prediction [--quick]
npm run measure -- prometheus [--quick] [--pictures DIR]
npm run measure -- gateways [--quick]
npm run measure -- redis [--quick]

  --quick      kill: only with a poll each second; peer-copy: 100 MB instead of 1 GB; scheduling: a tenth of the instances;
               prediction: 15 s instead of a minute; prometheus: 20 s instead of 40; gateways: a third of the requests;
               redis: faults of 3 s
  --seconds N  how long five times the capacity is asked for
  --pictures DIR  where the dashboard is drawn as a page, and as PNGs where chromium is installed`;

function readOptions(): Options {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: {
      seconds: { type: "string", default: "60" },
      quick: { type: "boolean", default: false },
      pictures: { type: "string" },
    },
  });
  const [what = ""] = positionals;
  if (!isMeasure(what)) throw new Error(`nothing is named "${what}"`);
  const seconds = Number(values.seconds);
  if (!(seconds >= 1)) throw new Error("--seconds takes a number from 1");
  return { what, seconds, quick: values.quick, pictures: values.pictures ?? null };
}

function run(children: Children, options: Options): Promise<void> {
  return MEASURES[options.what](children, options);
}

function isMeasure(what: string): what is keyof typeof MEASURES {
  return Object.hasOwn(MEASURES, what);
}

await withChildren(readOptions, usage, run);
