import * as fc from "fast-check";

/**
 * Property tests draw the same examples in each run, so that a red one tells of a change and not of luck.
 * FARMGATE_SEED is another seed: a number, or `random` to search for what no run has met yet.
 */
const { FARMGATE_SEED: given } = process.env;
if (given !== "random") fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(given ?? 1) });
