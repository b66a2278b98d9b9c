import { parseJson } from "@farmgate/shared";
import { z } from "zod";
import { CapacityOracle } from "./capacity-oracle.ts";
import { ElasticityOracle } from "./elasticity-oracle.ts";
import type { OracleOptions } from "./options.ts";

/** Counted up when what is kept changes its meaning. */
const VERSION = 1;
const CAPACITY_INPUTS = 5;
const ELASTICITY_INPUTS = 6;

/** Inputs are logarithms: nothing real is beyond this. */
const logarithm = z.number().min(-1000).max(1000);
const variance = z.number().min(1e-9).max(1e9);

function learnedSchema(dimensions: number) {
  const point = z.object({
    input: z.array(logarithm).length(dimensions).readonly(),
    output: logarithm,
    weight: z.number().min(1e-9).max(1e3),
    scatter: z.number().min(0).max(1e12),
  });
  const kernel = z.object({
    lengths: z.array(variance).length(dimensions).readonly(),
    signal: variance,
    noise: variance,
    bias: variance,
  });
  const measures = z.object({
    center: z.array(logarithm).length(dimensions).readonly(),
    spread: z.array(variance).length(dimensions).readonly(),
  });
  const drift = z.object({
    fitness: z.enum(["fits", "drifting", "wrong"]),
    residuals: z.array(z.number()).max(100).readonly(),
    calibration: z.number().min(1).max(9),
  });
  return z.object({ kernel, measures, points: z.array(point).max(10_000).readonly(), drift });
}

const capacitySchema = z.object({
  memory: learnedSchema(CAPACITY_INPUTS),
  compute: learnedSchema(CAPACITY_INPUTS),
  bandwidth: learnedSchema(CAPACITY_INPUTS),
});

/** Pairs of names and notes, since a model may be named as something of every object is. */
const storeSchema = z.object({
  version: z.literal(VERSION),
  capacity: z.array(z.tuple([z.string(), capacitySchema])),
  elasticity: z.array(z.tuple([z.string(), learnedSchema(ELASTICITY_INPUTS)])),
});

export interface Oracles {
  capacity: CapacityOracle;
  elasticity: ElasticityOracle;
}

/** All that the Oracles have learned, as JSON. Loads and figures only: nothing of any request's content. */
export function encodeOracles({ capacity, elasticity }: Oracles): string {
  const store = { version: VERSION, capacity: [...capacity.notes], elasticity: [...elasticity.notes] };
  // Nine digits are far more than any measurement has, and take half the room.
  return JSON.stringify(store, (_, value: unknown) =>
    typeof value === "number" ? Number(value.toPrecision(9)) : value,
  );
}

/** The Oracles again; empty ones, and why, when the text is damaged or another version's. */
export function decodeOracles(
  text: string,
  options: OracleOptions,
  elasticityOptions = options,
): Oracles & { problem: string | null } {
  const found = storeSchema.safeParse(parseJson(text));
  if (found.success) {
    const { capacity, elasticity } = found.data;
    return {
      capacity: new CapacityOracle(options, new Map(capacity)),
      elasticity: new ElasticityOracle(elasticityOptions, new Map(elasticity)),
      problem: null,
    };
  }
  const [issue] = found.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "it is not what was written" : issue.path.join(".");
  return {
    capacity: new CapacityOracle(options),
    elasticity: new ElasticityOracle(elasticityOptions),
    problem: `what was learned cannot be read and is learned anew: ${where}`,
  };
}
