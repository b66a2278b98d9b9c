import { parseArgs } from "node:util";

export interface Options {
  seed: number;
  /** In each round. */
  requests: number;
  /** Parts of names of rounds; none: all. */
  only: string[];
}

export const usage = `npm run test:faults -- [--seed N] [--requests N] [--only NAME]...

  --seed N      what is drawn: requests, places, garbage; without it one is drawn and printed
  --requests N  in each round, 24 without it
  --only NAME   rounds whose name holds NAME ("gateway", "agent stall", "callers", "clock"); may be given several times`;

export function parseOptions(args: string[], drawSeed: () => number): Options {
  const { values } = parseArgs({
    args,
    options: {
      seed: { type: "string" },
      requests: { type: "string", default: "24" },
      only: { type: "string", multiple: true, default: [] },
    },
  });
  const seed = values.seed === undefined ? drawSeed() : Number(values.seed);
  const requests = Number(values.requests);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error("--seed is a whole number");
  if (!Number.isSafeInteger(requests) || requests < 1) throw new Error("--requests is a whole number");
  return { seed, requests, only: values.only };
}
