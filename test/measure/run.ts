// `npm run measure -- kill | overload | prediction`: what a farm does when a worker dies, when it is asked for too much,
// and how well the simulator foretells it.
import { parseArgs } from "node:util";
import type { Children } from "../bench/process/children.ts";
import { withChildren } from "../bench/process/with-children.ts";
import { measureKill } from "./kill.ts";
import { measureOverload } from "./overload.ts";
import { measurePrediction } from "./prediction.ts";

const SUBJECTS = ["kill", "overload", "prediction"] as const;

interface Options {
  what: (typeof SUBJECTS)[number];
  /** Of overload. */
  seconds: number;
  quick: boolean;
}

const usage = `npm run measure -- kill [--quick]
npm run measure -- overload [--seconds 60]
npm run measure -- prediction [--quick]

  --quick      kill: only with a poll each second; prediction: 15 s instead of a minute
  --seconds N  how long five times the capacity is asked for`;

function readOptions(): Options {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: { seconds: { type: "string", default: "60" }, quick: { type: "boolean", default: false } },
  });
  const [asked = ""] = positionals;
  const what = SUBJECTS.find((subject) => subject === asked);
  if (what === undefined) throw new Error(`nothing is named "${asked}"`);
  const seconds = Number(values.seconds);
  if (!(seconds >= 1)) throw new Error("--seconds takes a number from 1");
  return { what, seconds, quick: values.quick };
}

function run(children: Children, options: Options): Promise<void> {
  switch (options.what) {
    case "kill":
      return measureKill(children, options);
    case "overload":
      return measureOverload(children, options);
    case "prediction":
      return measurePrediction(children, options);
  }
}

await withChildren(readOptions, usage, run);
