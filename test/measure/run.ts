// `npm run measure -- kill | overload | scheduling`: what a farm does when a worker dies, when it is asked for too much,
// and who is on time by which order of the queue.
import { parseArgs } from "node:util";
import type { Children } from "../bench/process/children.ts";
import { withChildren } from "../bench/process/with-children.ts";
import { measureKill } from "./kill.ts";
import { measureOverload } from "./overload.ts";
import { measureScheduling } from "./scheduling/measure.ts";

const WHATS = ["kill", "overload", "scheduling"] as const;

interface Options {
  what: (typeof WHATS)[number];
  /** Of overload. */
  seconds: number;
  quick: boolean;
}

const usage = `npm run measure -- kill [--quick]
npm run measure -- overload [--seconds 60]
npm run measure -- scheduling [--quick]

  --quick      only with a poll each second; a tenth of the random instances
  --seconds N  how long five times the capacity is asked for`;

function readOptions(): Options {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: { seconds: { type: "string", default: "60" }, quick: { type: "boolean", default: false } },
  });
  const [name = ""] = positionals;
  const what = WHATS.find((one) => one === name);
  if (what === undefined) throw new Error(`nothing is named "${name}"`);
  const seconds = Number(values.seconds);
  if (!(seconds >= 1)) throw new Error("--seconds takes a number from 1");
  return { what, seconds, quick: values.quick };
}

async function run(children: Children, options: Options): Promise<void> {
  if (options.what === "kill") return measureKill(children, options);
  if (options.what === "overload") return measureOverload(children, options);
  measureScheduling(options);
}

await withChildren(readOptions, usage, run);
