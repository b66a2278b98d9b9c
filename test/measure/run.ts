// `npm run measure -- kill | overload | oracle`: what a farm does when a worker dies, and when it is asked for too much;
// how far its Oracles are off.
import { parseArgs } from "node:util";
import type { Children } from "../bench/process/children.ts";
import { withChildren } from "../bench/process/with-children.ts";
import { measureKill } from "./kill.ts";
import { measureOracle } from "./oracle.ts";
import { measureOverload } from "./overload.ts";

interface Options {
  what: "kill" | "overload" | "oracle";
  /** Of overload. */
  seconds: number;
  quick: boolean;
}

const usage = `npm run measure -- kill [--quick]
npm run measure -- overload [--seconds 60]
npm run measure -- oracle

  --quick      only with a poll each second
  --seconds N  how long five times the capacity is asked for`;

function readOptions(): Options {
  const { values, positionals } = parseArgs({
    args: process.argv.slice(2),
    allowPositionals: true,
    options: { seconds: { type: "string", default: "60" }, quick: { type: "boolean", default: false } },
  });
  const [what = ""] = positionals;
  if (what !== "kill" && what !== "overload" && what !== "oracle") throw new Error(`nothing is named "${what}"`);
  const seconds = Number(values.seconds);
  if (!(seconds >= 1)) throw new Error("--seconds takes a number from 1");
  return { what, seconds, quick: values.quick };
}

async function run(children: Children, options: Options): Promise<void> {
  switch (options.what) {
    case "kill":
      return measureKill(children, options);
    case "overload":
      return measureOverload(children, options);
    case "oracle":
      return measureOracle();
  }
}

await withChildren(readOptions, usage, run);
