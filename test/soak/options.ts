import { parseArgs } from "node:util";

export interface Options {
  minutes: number;
  /** Requests under way at once. */
  streams: number;
  seed: number;
}

export const usage = `npm run soak -- [--minutes 20] [--streams 200] [--seed 1]`;

export function parseOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: "string", default: "20" },
      streams: { type: "string", default: "200" },
      seed: { type: "string", default: "1" },
    },
  });
  const options = { minutes: Number(values.minutes), streams: Number(values.streams), seed: Number(values.seed) };
  if (!(options.minutes > 0)) throw new Error("--minutes takes a number above 0");
  if (!Number.isInteger(options.streams) || options.streams < 1)
    throw new Error("--streams takes a whole number above 0");
  if (!Number.isInteger(options.seed)) throw new Error("--seed takes a whole number");
  return options;
}
